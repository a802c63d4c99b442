"""The answer of `hockney identify`."""

from __future__ import annotations

from typing_extensions import TypedDict

from hockney.api.answers.base import answer


class Name(TypedDict):
    """Schedules that cannot be told from each other, and how probable it is that one of them ran."""

    schedules: list[str]
    probability: float | None


class IdentifiedCell(TypedDict):
    """One number of ranks and size; `names` is null where it cannot be told."""

    ranks: int
    nodes: int | None
    bytes: int
    names: list[Name] | None
    way: str
    why: str


class Switch(TypedDict):
    """Where the library changes its algorithm."""

    ranks: int
    nodes: int | None
    last_bytes: int
    first_bytes: int
    before: str
    after: str


class IdentifiedOperation(TypedDict):
    """One collective of one library."""

    operation: str
    statistic: str
    mpi: str
    variant: str
    way: str
    cells: list[IdentifiedCell]
    n_cells: int
    n_cannot_be_told: int
    switches: list[Switch]
    candidates: list[str]
    warnings: list[str]


@answer("identify")
class IdentifyAnswer(TypedDict):
    """What the library runs by default."""

    answers: list[IdentifiedOperation]
    warnings: list[str]
