"""Whose decisions hold for a table's `mpi` column."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import ScheduleChoice, decisions_for, libraries
from hockney.schedule import catalogue


@pytest.mark.parametrize(
    ("column", "library", "version"),
    [
        ("Open MPI 4.1.5", "openmpi", (4, 1, 5)),
        ("openmpi 4.1.5", "openmpi", (4, 1, 5)),
        ("OpenMPI-5.0.11rc1", "openmpi", (5, 0, 11)),
        ("Open MPI", "openmpi", ()),
        ("MPICH 4.0.2", "mpich", (4, 0, 2)),
        ("Fujitsu MPI 4.0.1", "fujitsu", (4, 0, 1)),
    ],
)
def test_a_library_is_recognised(column: str, library: str, version: tuple[int, ...]) -> None:
    found = decisions_for(column)
    assert found.decisions is libraries.get(library)
    assert found.version == version
    assert found.reason == libraries.get(library).limits


@pytest.mark.parametrize("column", ["Intel MPI 2019.7", "Cray MPICH 8.1", "MVAPICH2 2.3"])
def test_others_are_unknown_and_it_says_so(column: str) -> None:
    found = decisions_for(column)
    assert found.decisions is None
    assert column in found.reason


def test_a_table_without_a_library() -> None:
    assert decisions_for(" ").decisions is None
    assert "does not say" in decisions_for("").reason


def test_spellings_of_a_name() -> None:
    named = libraries.get("openmpi").named
    assert named("bcast", " Split-Binary tree ", (4, 1)) == ScheduleChoice("split_binary")


VERSIONS = {"openmpi": [(1, 10, 7), (4, 0, 7), (4, 1, 5), (5, 0, 10)], "mpich": [(4, 0, 2), (5, 0, 1)]}


RANKS = (2, 3, 4, 7, 12, 20, 33, 64, 100, 129, 255, 300, 700, 1024, 3000, 5000)
SIZES_B = (*range(0, 40, 4), *(4**k for k in range(3, 13)))


def generate(operation: str, ranks: int, size_B: int, choice: ScheduleChoice | None) -> int:
    """How many schedules a choice comes to; RequestError where one of them is refused."""
    if choice is None:
        return 0
    catalogue.ask(
        operation,
        choice.algorithm,
        ranks=ranks,
        size_B=size_B,
        segment_B=choice.segment_B or 0,
        radix=choice.radix or 0,
    )
    return 1 + sum(generate(part.operation, ranks, part.size_B, part.choice) for part in choice.parts)


@pytest.mark.parametrize(("library", "version"), [(one, v) for one, all_ in VERSIONS.items() for v in all_])
def test_schedules_take_what_is_chosen(library: str, version: tuple[int, ...]) -> None:
    default = libraries.get(library).default
    chosen = 0
    for operation in catalogue.collectives():
        for ranks in RANKS:
            for size_B in (0,) if operation == "barrier" else SIZES_B:
                nodes = ranks if library == "mpich" else 1
                chosen += generate(
                    operation, ranks, size_B, default(operation, ranks, size_B, version, nodes=nodes)
                )
    assert chosen > len(RANKS) * len(SIZES_B)
