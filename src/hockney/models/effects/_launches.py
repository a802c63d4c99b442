"""Several launches of one campaign: what varies between them belongs to the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect, EffectModel
from hockney.records.effect_record import EffectRecord
from hockney.statistics import mean_reach

NO_LEAST: Mapping[str, float] = MappingProxyType({})


def over_launches(model: EffectModel, least: Mapping[str, float] = NO_LEAST) -> EffectModel:
    """The model of all launches together, its intervals widened by the spread between launches' own models.

    The samples of one launch share what that launch has drawn (addresses, cores' clocks, neighbours), so that
    samples of several are no independent ones. Each launch is fitted alone; with s the standard deviation of L
    launches' estimates the interval reaches at least t₀.₉₇₅(L − 1) · s/√L to either side of the value (not below
    what `least` says of a parameter, else not below zero: all are physical), which is wide for two launches,
    because two tell little of a spread.
    """

    def fit(records: Sequence[EffectRecord]) -> Effect:
        together = model(records)
        launches: dict[int, list[EffectRecord]] = {}
        for record in records:
            launches.setdefault(record.repetition, []).append(record)
        if len(launches) < 2:
            return together
        alone = [effect for of_launch in launches.values() if (effect := _or_none(model, of_launch)) is not None]
        parameters = {
            name: _widened(
                parameter,
                [each.parameters[name].value for each in alone if name in each.parameters],
                least.get(name, 0.0),
            )
            for name, parameter in together.parameters.items()
        }
        note = f"{len(launches)} launches: intervals hold the spread between them (Student's t)"
        untold = [
            name
            for name, parameter in parameters.items()
            if parameter.low is not None and sum(name in each.parameters for each in alone) < 2
        ]
        if untold:
            note += f", but for those that fewer than two launches tell alone: {', '.join(untold)}"
        return together.model_copy(update={"parameters": parameters, "notes": [*together.notes, note]})

    return fit


def _or_none(model: EffectModel, records: Sequence[EffectRecord]) -> Effect | None:
    try:
        return model(records)
    except RequestError:
        return None


def _widened(parameter: Parameter, estimates: Sequence[float], least: float) -> Parameter:
    """The parameter with an interval that holds the mean of its `estimates`; unchanged where it has none."""
    if parameter.low is None or parameter.high is None or len(estimates) < 2:
        return parameter
    reach = mean_reach(np.array(estimates))
    low = min(parameter.low, max(least, parameter.value - reach))
    high = max(parameter.high, parameter.value + reach)
    return parameter.model_copy(update={"low": low, "high": high})
