"""The answer of `hockney fit` and `hockney show`: a machine's models."""

from __future__ import annotations

from typing import NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from hockney.machine.file import EntryLevel, MpiLibrary
from hockney.models.base import Parameter, Quality, Regime
from hockney.models.collectives.base import CollectiveQuality, CollectiveRegime
from hockney.models.effects.base import Cell, Effect
from hockney.models.views import Statement

Views = dict[str, list[Statement]]
"""Statements by view: asymptotic, dominant, bounded, exact."""


class FitOfEntry(TypedDict):
    """One model of an entry."""

    formula: list[str]
    latex: str
    latency_s: Parameter
    bandwidth_B_per_s: Parameter | None
    regimes: list[Regime]
    parameters: dict[str, Parameter]
    nonphysical: bool
    gap_is_larger: bool
    n_half_B: Parameter | None
    quality: Quality | None
    notes: list[str]
    views: NotRequired[dict[str, list[Statement]]]


class LevelBeside(TypedDict):
    """Another level of the machine."""

    level: EntryLevel | None
    times_as_long: float | None


@with_config(ConfigDict(extra="allow"))
class ModelledEntry(TypedDict):
    """One kind of pair; further words tell it from its neighbours: source, system, mpi, window …"""

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
    models: dict[str, FitOfEntry]
    notes: list[str]
    level: EntryLevel | None
    other_levels: list[LevelBeside]


class ModelledCollective(TypedDict):
    """A published or fitted model of a collective."""

    operation: str
    algorithm: str
    views: Views
    notes: list[str]
    mapping: str
    other: dict[str, str]
    segment_B: int
    radix: int
    statistic: str
    parameters: dict[str, Parameter]
    regimes: list[CollectiveRegime]
    as_printed: list[Statement]
    points: list[dict[str, Cell]]
    quality: CollectiveQuality | None
    launches: int | None
    oversubscribed: bool | None
    source: str


class ShowAnswer(TypedDict):
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
    collectives: list[ModelledCollective]
