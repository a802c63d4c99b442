"""The answers of `hockney run`: records of runs, and what is made of them."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.records.app_record import AppRecord


@answer("run cg")
class CgRuns(TypedDict):
    """Runs of conjugate gradients."""

    runs: list[AppRecord]


@answer("run jacobi")
class JacobiRuns(TypedDict):
    """Runs of Jacobi."""

    scaling: str
    runs: list[AppRecord]


@answer("run ring")
class RingRuns(TypedDict):
    """Runs of rings, and their curves."""

    runs: list[AppRecord]
    model: str | None
    curves: list[dict[str, Any]]
    notes: list[str]
    csv: str | None
    figure: str | None
    out: str | None


@with_config(ConfigDict(extra="allow"))
class Sum3dRuns(TypedDict):
    """Runs of the sum, and how grids compare."""

    runs: list[dict[str, Any]]


class Sum3dLoads(TypedDict):
    """Elements of each rank, nothing was run."""

    operation: str
    size: list[int]
    grid: str
    split: str
    elements: list[int]
    loads: list[str]


class Sum3dSeveralLoads(TypedDict):
    """The same of several problems."""

    operation: str
    loads: list[Sum3dLoads]


answer("run sum3d")(Sum3dRuns | Sum3dLoads | Sum3dSeveralLoads)


class PinnedRank(TypedDict):
    """Where a rank's threads go."""

    rank: int
    node: int
    threads: list[list[int]]


class PinningWish(TypedDict):
    """What was wished."""

    ranks: int
    threads: int
    spread: str
    nodes: int
    thread_spread: str
    cpus: list[int]


class PinningPlanned(TypedDict):
    """A plan of places."""

    wish: PinningWish
    topology: str
    ranks: list[PinnedRank]


class Recipe(TypedDict):
    """How a launcher gets it."""

    launcher: str
    title: str
    argv: list[str]
    environment: dict[str, str]
    file: str
    refused: str
    note: str


class PinningPlans(TypedDict):
    """With --dry-run: recipes for every launcher."""

    plan: PinningPlanned
    recipes: list[Recipe]
    kmp_affinity: str


class PinningRuns(TypedDict):
    """Where threads were."""

    plan: PinningPlanned | None
    recipe: Recipe | None
    as_wished: bool | None
    runs: list[dict[str, Any]]
    warnings: NotRequired[list[str]]


answer("run pinning")(PinningRuns | PinningPlans)
