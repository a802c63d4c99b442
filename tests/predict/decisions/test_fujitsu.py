"""fujitsu: the names on Fugaku that Open MPI has too, and nothing made up for the others."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import ScheduleChoice, libraries

default, named = libraries.get("fujitsu").default, libraries.get("fujitsu").named

V = (4, 0, 1)


@pytest.mark.parametrize(
    ("operation", "name", "expected"),
    [
        ("bcast", "binary_tree", ScheduleChoice("binary")),
        ("bcast", "chain", ScheduleChoice("chain", radix=4)),
        ("allgather", "recursive-doubling", ScheduleChoice("recursive_doubling")),
        ("alltoall", "modified_bruck", ScheduleChoice("bruck")),
        ("reduce_scatter", "recursive_halving", ScheduleChoice("recursive_halving")),
        ("bcast", "trinaryx3", None),
        ("allreduce", "trix6", None),
        ("scatter", "use_bcast", None),
    ],
)
def test_names(operation: str, name: str, expected: ScheduleChoice | None) -> None:
    assert named(operation, name, V) == expected


def test_its_own_choice_is_not_known() -> None:
    assert default("bcast", 8, 8, V) is None
    # Which reduce and bcast it calls is its own choice, too.
    assert named("allreduce", "nonoverlapping", V, ranks=8, size_B=8) is None
