"""What the model of an effect is: from the answers at one locality to parameters that a person can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from hockney.models.base import Parameter
from hockney.models.views import Views
from hockney.records.effect_record import EffectRecord
from hockney.records.record import Locality
from hockney.registry import Registry

Cell = float | int | str | bool | None


class Plot(BaseModel):
    """How the points of an effect are drawn: names of their columns.

    `by`: a series for each value; `where`: only the points with these values; `model`: what the model says of
    each.
    """

    model_config = ConfigDict(extra="forbid")

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

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

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


EffectModel = Callable[[Sequence[EffectRecord]], Effect]
"""A function from the records of one effect, MPI, variant, mapping and locality (all answered) to their model.

It fills parameters, views, points, plots, not_identified and notes; the caller fills in which MPI, variant,
mapping and locality the model is of. RequestError where the records cannot support a model.
"""


class EffectModels(Registry[EffectModel]):
    """Models by name: that of the effect, or one of its own where several models read the answers of one effect.

    `read` holds, by the name of a model, the effect whose answers it reads, `meanings` what it tells a
    reader.
    """

    def __init__(self, kind: str, package: str, page: str) -> None:
        super().__init__(kind, package, page)
        self.read: dict[str, str] = {}
        self.meanings: dict[str, str] = {}

    def register(self, name: str, meaning: str = "", reads: str = "") -> Callable[[EffectModel], EffectModel]:
        """Decorator: enter a model under `name`.

        `meaning` is one sentence that heads its section in a report; `reads` is its effect where that has another
        name.
        """
        self.read[name] = reads or name
        self.meanings[name] = meaning
        return super().register(name)

    def of(self, effect: str) -> dict[str, EffectModel]:
        """The models of one effect by their names, sorted; none where this version does not know the effect."""
        return {name: model for name, model in self if self.read[name] == effect}

    def meaning(self, name: str) -> str:
        """What a model tells a reader; empty where this version does not know the model."""
        self._load()
        return self.meanings.get(name, "")


effect_models = EffectModels("model of an effect", "hockney.models.effects", "reference/effects.md")
