"""Whose decisions hold for a table's `mpi` column."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import decisions_for, libraries, spelled
from hockney.schedule import catalogue


@pytest.mark.parametrize(
    ("mpi", "library", "version"),
    [
        ("Open MPI 4.1.5", "openmpi", (4, 1, 5)),
        ("openmpi 4.1.5", "openmpi", (4, 1, 5)),
        ("OpenMPI-5.0.11rc1", "openmpi", (5, 0, 11)),
        ("Open MPI", "openmpi", ()),
        ("MPICH 4.0.2", "mpich", (4, 0, 2)),
        ("Fujitsu MPI 4.0.1", "fujitsu", (4, 0, 1)),
    ],
)
def test_a_library_is_recognised(mpi: str, library: str, version: tuple[int, ...]) -> None:
    found = decisions_for(mpi)
    assert found.decisions is libraries.get(library)
    assert found.version == version
    assert found.reason == libraries.get(library).limits


@pytest.mark.parametrize("mpi", ["Intel MPI 2019.7", "Cray MPICH 8.1", "MVAPICH2 2.3"])
def test_others_are_unknown_and_it_says_so(mpi: str) -> None:
    found = decisions_for(mpi)
    assert found.decisions is None
    assert mpi in found.reason


def test_a_table_without_a_library() -> None:
    assert decisions_for(" ").decisions is None
    assert "does not say" in decisions_for("").reason


def test_spellings_of_a_name() -> None:
    assert spelled(" In-Order binary ") == "in_order_binary"


VERSIONS = {"openmpi": [(1, 10, 7), (4, 0, 7), (4, 1, 5), (5, 0, 10)], "mpich": [(4, 0, 2), (5, 0, 1)]}


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_every_default_can_be_generated(library: str) -> None:
    """Of every choice the schedule takes the number of ranks, the segment and the radix."""
    decisions = libraries.get(library)
    chosen = 0
    for version in VERSIONS[library]:
        for operation in catalogue.collectives():
            for ranks in (2, 3, 4, 7, 12, 20, 33, 64, 100, 129, 255, 300, 700, 1024, 3000, 5000):
                for size_B in (
                    (0,) if operation == "barrier" else (*range(0, 40, 4), *(4**k for k in range(3, 13)))
                ):
                    choice = decisions.default(
                        operation, ranks, size_B, version, nodes=ranks if library == "mpich" else 1
                    )
                    stack = [(operation, size_B, choice)]
                    while stack:
                        inner, inner_B, one = stack.pop()
                        if one is None:
                            continue
                        chosen += 1
                        catalogue.ask(
                            inner,
                            one.algorithm,
                            ranks=ranks,
                            size_B=inner_B,
                            segment_B=one.segment_B or 0,
                            radix=one.radix or 0,
                        )
                        stack += [(part.operation, part.size_B, part.choice) for part in one.parts]
    assert chosen > 1000
