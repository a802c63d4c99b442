"""mpich: decisions transcribed by hand from maint/tuning/coll/{ch4,mpir}/generic.json of 4.3.2."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import Choice
from hockney.predict.decisions.mpich import SCHEDULES, default, named
from hockney.schedule import catalogue

V4 = (4, 3, 2)


@pytest.mark.parametrize(
    ("operation", "ranks", "size_B", "expected"),
    [
        ("barrier", 7, 0, Choice("dissemination")),
        ("bcast", 7, 1 << 20, Choice("knomial", radix=2)),
        ("bcast", 16, 12_288, Choice("knomial", radix=2)),
        ("bcast", 16, 12_289, Choice("scatter_allgather")),
        ("bcast", 16, 524_289, Choice("scatter_allgather_ring")),
        ("bcast", 12, 12_289, Choice("scatter_allgather_ring")),
        ("reduce", 16, 2048, Choice("binomial")),
        ("reduce", 16, 2052, Choice("rabenseifner")),
        ("reduce", 1024, 2052, Choice("binomial")),
        ("allreduce", 4, 8, Choice("recursive_doubling")),
        ("allreduce", 4, 12, Choice("recursive_doubling")),
        ("allreduce", 4, 16, Choice("rabenseifner")),
        ("allgather", 16, 32_767, Choice("recursive_doubling")),
        ("allgather", 16, 32_768, Choice("ring")),
        ("allgather", 10, 8191, Choice("bruck")),
        ("allgather", 10, 8192, Choice("ring")),
        ("alltoall", 7, 32_768, Choice("linear")),
        ("alltoall", 8, 256, Choice("bruck")),
        ("alltoall", 32, 257, Choice("linear")),
        ("alltoall", 33, 257, None),
        ("alltoall", 8, 32_769, Choice("pairwise")),
        ("gather", 9, 1, Choice("binomial")),
        ("scatter", 9, 1 << 20, Choice("binomial")),
        ("reduce_scatter", 8, 65_532, Choice("recursive_halving")),
        ("reduce_scatter", 8, 65_536, Choice("pairwise")),
    ],
)
def test_one_rank_on_each_node(operation: str, ranks: int, size_B: int, expected: Choice | None) -> None:
    assert default(operation, ranks, size_B, V4, nodes=ranks) == expected


def test_through_shared_memory_there_is_no_schedule() -> None:
    for operation in ("barrier", "bcast", "reduce", "allreduce"):
        assert default(operation, 8, 64, V4) is None
        assert default(operation, 8, 64, V4, nodes=4) is None
    assert default("gather", 8, 64, V4) == Choice("binomial")


@pytest.mark.parametrize("version", [(), (3, 4, 3), (6, 0)])
def test_versions_that_were_not_read(version: tuple[int, ...]) -> None:
    assert default("gather", 8, 64, version) is None


def test_names() -> None:
    assert named("bcast", "mpir:binomial", V4) == Choice("knomial", radix=2)
    assert named("allreduce", "reduce_scatter_allgather", V4) == Choice("rabenseifner")
    assert named("allreduce", "reduce_scatter_allgather", V4, ranks=8, size_B=28) == Choice("recursive_doubling")
    assert named("allgather", "recursive_doubling", V4, ranks=6, size_B=8) == Choice("bruck")
    assert named("alltoall", "scattered", V4, ranks=32) == Choice("linear")
    assert named("alltoall", "scattered", V4) is None
    assert named("bcast", "smp", V4) is None


def test_every_schedule_named_is_one_of_ours() -> None:
    for operation, schedules in SCHEDULES.items():
        known = {one.name for one in catalogue.algorithms(operation)}
        assert {choice.algorithm for choice in schedules.values()} <= known
