"""What the model of an effect is: from the answers at one locality to parameters that a person can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.views import View, Views, statement
from hockney.records.record import Locality
from hockney.registry import Registry
from hockney.statistics import mean_reach
from hockney.units import grouped

if TYPE_CHECKING:
    from hockney.records.effect_record import EffectRecord

Cell = float | int | str | bool | None


class Plot(BaseModel):
    """How the points of an effect are drawn: names of their columns.

    `by`: a series for each value; `where`: only the points with these values; `model`: what the model says of
    each.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    x: str
    y: str
    by: str = ""
    where: dict[str, Cell] = Field(default_factory=dict)
    model: str = ""
    title: str = ""
    log_x: bool = True
    log_y: bool = True


class Effect(BaseModel):
    """An effect of one MPI at one locality: its parameters, its model in four views, and what it was fitted to.

    `effect` is the name of the model, which is that of the effect but for further models of its answers.
    Where `not_measurable` says why, there is nothing else. `not_identified` names parameters that the data cannot
    tell, each with the measurement that would settle it; they have no value in `parameters`.
    """

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True
    )

    effect: str
    locality: Locality | None = None
    variant: str = ""
    mpi: str = ""
    mapping: str = ""
    system: str = ""
    placement: str = Field(default="", description="of the launch: 8 ranks on 2 nodes")
    ranks: int | None = Field(default=None, description="that took part")
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    views: Views = Field(default_factory=Views)
    points: list[dict[str, Cell]] = Field(
        default_factory=list, description="what was measured, a row each; units are in the names"
    )
    plots: list[Plot] = Field(default_factory=list)
    not_measurable: str = ""
    not_identified: dict[str, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list, description="limits of this model, in words")
    source: str = Field(default="", description="of a published effect: where it was published")
    oversubscribed: bool | None = None
    launches: list[str] = Field(default_factory=list, description="ids in provenance.launches")

    def know(
        self, name: str, value: float, unit: str, low: float | None = None, high: float | None = None
    ) -> None:
        """Enter a parameter, with its 95 % interval if it has one."""
        self.parameters[name] = Parameter(value=value, low=low, high=high, unit=unit)

    def cannot_tell(self, why: str, *names: str) -> None:
        """Enter parameters that the data do not tell, and the measurement that would."""
        self.not_identified |= dict.fromkeys(names, why)

    def state(self, view: View, text: str, where: str = "", source: str = "", mathematics: str = "") -> None:
        """Add a statement to a view; its LaTeX is that of the text unless it is given."""
        getattr(self.views, view).append(statement(text, where, source, mathematics))


Fill: TypeAlias = "Callable[[Effect, Sequence[EffectRecord]], None]"
Least = Mapping[str, float] | None


@dataclass(frozen=True)
class EffectModel:
    """The model of an effect: called with answers, it gives the effect.

    `meaning` is one sentence that heads its section in a report; `reads` the effect whose answers it reads.
    `fill` gets an empty effect and the records of one effect, MPI, variant, mapping and locality, all answered:
    it enters parameters, views, points and notes. Which MPI, variant and locality that is of the caller fills in.

    Where `widens`, the interval of each parameter holds the spread between launches, not below its `least`
    (zero): samples of one launch share what that launch has drawn (addresses, cores' clocks, neighbours).
    """

    name: str
    meaning: str
    reads: str
    fill: Fill
    plots: Sequence[Plot] = ()
    widens: bool = False
    least: Least = None

    def __call__(self, records: Sequence[EffectRecord]) -> Effect:
        """RequestError where the records cannot support a model."""
        effect = self._of(records)
        launches = grouped(records, lambda record: record.repetition)
        if self.widens and len(launches) > 1:
            self._widen(effect, list(launches.values()))
        return effect

    def _of(self, records: Sequence[EffectRecord]) -> Effect:
        effect = Effect(effect=self.name, plots=list(self.plots))
        self.fill(effect, records)
        return effect

    def _widen(self, effect: Effect, launches: Sequence[Sequence[EffectRecord]]) -> None:
        """Widen each interval to t₀.₉₇₅(L − 1) · s/√L, s the standard deviation of L launches' own estimates.

        That is wide for two launches, because two tell little of a spread.
        """
        alone = [found.parameters for launch in launches if (found := self._or_none(launch)) is not None]
        few = []
        for name, parameter in effect.parameters.items():
            estimates = [parameters[name].value for parameters in alone if name in parameters]
            if parameter.low is None or parameter.high is None:
                continue
            if len(estimates) < 2:
                few.append(name)
                continue
            reach = mean_reach(np.array(estimates))
            lowest = max((self.least or {}).get(name, 0.0), parameter.value - reach)
            ends = {"low": min(parameter.low, lowest), "high": max(parameter.high, parameter.value + reach)}
            effect.parameters[name] = parameter.model_copy(update=ends)
        note = f"{len(launches)} launches: intervals hold the spread between them (Student's t)"
        if few:
            note += f", but for those that fewer than two launches have alone: {', '.join(few)}"
        effect.notes.append(note)

    def _or_none(self, records: Sequence[EffectRecord]) -> Effect | None:
        try:
            return self._of(records)
        except RequestError:
            return None


class EffectModels(Registry[EffectModel]):
    """Models by name: that of the effect, or one of its own where several models read one effect's answers."""

    def register(  # type: ignore[override]
        self,
        name: str,
        meaning: str = "",
        *plots: Plot,
        reads: str = "",
        widens: bool = False,
        least: Least = None,
    ) -> Callable[[Fill], Fill]:
        """Decorator: enter what fills an effect as the model of that name, as `EffectModel` says."""

        def enter(fill: Fill) -> Fill:
            super(EffectModels, self).register(name)(
                EffectModel(name, meaning, reads or name, fill, plots, widens, least)
            )
            return fill

        return enter

    def of(self, effect: str) -> list[EffectModel]:
        """The models of one effect, sorted; none where this version does not know the effect."""
        return [model for _, model in self if model.reads == effect]

    def meaning(self, name: str) -> str:
        """What a model tells a reader; empty where this version does not know the model."""
        return self.get(name).meaning if name in self.names() else ""


effect_models = EffectModels("model of an effect", "hockney.models.effects", "reference/effects.md")
