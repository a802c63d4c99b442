"""The answer of `hockney fit` and `hockney show`: a machine's models, with what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from hockney.machine.file import Entry, EntryLevel, Machine, MpiLibrary
from hockney.machine.formula import bandwidth, formulas, latency, latex
from hockney.machine.provenance import warnings_of
from hockney.machine.select import words
from hockney.models.base import Fit, Parameter
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.models.views import View, Views
from hockney.report.views.sections import ModelSection

Modelled = TypeVar("Modelled", Effect, CollectiveModel)


class ModelledFit(Fit):
    """One model of an entry; `views` where they were asked for."""

    model: str = Field(exclude=True)
    formula: list[str]
    latex: str
    latency_s: Parameter
    bandwidth_B_per_s: Parameter | None
    views: Views | None

    @classmethod
    def of(cls, entry: Entry, fit: Fit, views: Views | None) -> ModelledFit:
        """A model as it is in the file, and what follows from it."""
        return cls(
            **dict(fit),
            formula=formulas(fit),
            latex=latex(fit),
            latency_s=latency(fit),
            bandwidth_B_per_s=bandwidth(entry, fit),
            views=views,
        )


class LevelBeside(BaseModel):
    """Another level of the machine."""

    level: EntryLevel | None
    times_as_long: float | None


class ModelledEntry(BaseModel):
    """One kind of pair; further words tell it from its neighbours: source, system, mpi, window …"""

    model_config = ConfigDict(extra="allow")

    operation: str
    locality: str
    variant: str
    cache: str
    mapping: str
    pairs_measured: list[str]
    points: int
    smallest_B: int | None
    largest_B: int | None
    source: str
    eager_limit_B: float | None
    oversubscribed: bool | None
    models: dict[str, ModelledFit]
    notes: list[str]
    level: EntryLevel | None
    other_levels: list[LevelBeside]

    @classmethod
    def of(cls, entry: Entry, views: Iterator[Views]) -> ModelledEntry:
        """An entry without its points; the next of `views` is that of its next model, as far as there are."""
        points = entry.measurements.points
        own = {
            "pairs_measured": entry.pairs,
            "points": len(points),
            "smallest_B": points[0].size_B if points else None,
            "largest_B": points[-1].size_B if points else None,
            "models": {name: ModelledFit.of(entry, fit, next(views, None)) for name, fit in entry.fits.items()},
            "other_levels": [
                other.model_dump(include={"level", "times_as_long"}) for other in entry.other_levels
            ],
        }
        same = ("source", "eager_limit_B", "oversubscribed", "notes", "level")
        return cls.model_validate(words(entry) | {name: getattr(entry, name) for name in same} | own)


@dataclass(frozen=True)
class ShowAnswer:
    """All models of a machine file, or those that were asked for; `machine` is the file that holds them."""

    machine: str
    schema_version: int
    hockney_version: str
    created: str
    system: str
    mpi: list[MpiLibrary]
    entries: list[ModelledEntry]
    warnings: list[str]
    effects: list[Effect]
    collectives: list[CollectiveModel]

    @classmethod
    def of(
        cls,
        path: str,
        part: Machine,
        fits: Sequence[ModelSection],
        more: Sequence[ModelSection],
        views: Sequence[View],
    ) -> ShowAnswer:
        """`fits`: sections on each fit of `part`, entry by entry, or none; `more`: on effects and collectives."""
        of_fits = iter([section.views.only(views) for section in fits])

        def restricted(kind: type[Modelled]) -> list[Modelled]:
            return [
                section.of.model_copy(update={"views": section.views.only(views)})
                for section in more
                if isinstance(section.of, kind)
            ]

        return cls(
            machine=path,
            schema_version=part.schema_version,
            hockney_version=part.hockney_version,
            created=part.created,
            system=part.system.name,
            mpi=part.mpi,
            entries=[ModelledEntry.of(entry, of_fits) for entry in part.point_to_point],
            warnings=warnings_of(part),
            effects=restricted(Effect),
            collectives=restricted(CollectiveModel),
        )
