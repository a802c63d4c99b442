"""Several launches of one campaign: what varies between them belongs to the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect, EffectModel
from hockney.models.statistics import mean_reach
from hockney.records.effect_record import EffectRecord

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
        found = model(records)
        launches: dict[int, list[EffectRecord]] = {}
        for record in records:
            launches.setdefault(record.repetition, []).append(record)
        if len(launches) < 2:
            return found
        alone = [one for some in launches.values() if (one := _or_none(model, some)) is not None]
        parameters = {
            name: _widened(
                one,
                [each.parameters[name].value for each in alone if name in each.parameters],
                least.get(name, 0.0),
            )
            for name, one in found.parameters.items()
        }
        note = f"{len(launches)} launches: intervals hold the spread between them (Student's t)"
        untold = [
            name
            for name, one in parameters.items()
            if one.low is not None and sum(name in each.parameters for each in alone) < 2
        ]
        if untold:
            note += f", but for those that fewer than two launches tell alone: {', '.join(untold)}"
        return found.model_copy(update={"parameters": parameters, "notes": [*found.notes, note]})

    return fit


def _or_none(model: EffectModel, records: Sequence[EffectRecord]) -> Effect | None:
    try:
        return model(records)
    except RequestError:
        return None


def _widened(one: Parameter, estimates: Sequence[float], least: float) -> Parameter:
    """`one` with an interval that holds the mean of as many launches; as it is where it has no interval."""
    if one.low is None or one.high is None or len(estimates) < 2:
        return one
    reach = mean_reach(np.array(estimates))
    low, high = min(one.low, max(least, one.value - reach)), max(one.high, one.value + reach)
    return one.model_copy(update={"low": low, "high": high})
