"""mpich: decisions transcribed by hand from maint/tuning/coll/{ch4,mpir}/generic.json of 4.3.2."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import ScheduleChoice, libraries
from hockney.predict.decisions.mpich import SCHEDULES
from hockney.schedule import catalogue

default, named = libraries.get("mpich").default, libraries.get("mpich").named

V4 = (4, 3, 2)


@pytest.mark.parametrize(
    ("operation", "ranks", "size_B", "expected"),
    [
        ("barrier", 7, 0, ScheduleChoice("dissemination")),
        ("bcast", 7, 1 << 20, ScheduleChoice("knomial", radix=2)),
        ("bcast", 16, 12_288, ScheduleChoice("knomial", radix=2)),
        ("bcast", 16, 12_289, ScheduleChoice("scatter_allgather")),
        ("bcast", 16, 524_289, ScheduleChoice("scatter_allgather_ring")),
        ("bcast", 12, 12_289, ScheduleChoice("scatter_allgather_ring")),
        ("reduce", 16, 2048, ScheduleChoice("binomial")),
        ("reduce", 16, 2052, ScheduleChoice("rabenseifner")),
        ("reduce", 1024, 2052, ScheduleChoice("binomial")),
        ("allreduce", 4, 8, ScheduleChoice("recursive_doubling")),
        ("allreduce", 4, 12, ScheduleChoice("recursive_doubling")),
        ("allreduce", 4, 16, ScheduleChoice("rabenseifner")),
        ("allgather", 16, 32_767, ScheduleChoice("recursive_doubling")),
        ("allgather", 16, 32_768, ScheduleChoice("ring")),
        ("allgather", 10, 8191, ScheduleChoice("bruck")),
        ("allgather", 10, 8192, ScheduleChoice("ring")),
        ("alltoall", 7, 32_768, ScheduleChoice("linear")),
        ("alltoall", 8, 256, ScheduleChoice("bruck")),
        ("alltoall", 32, 257, ScheduleChoice("linear")),
        ("alltoall", 33, 257, None),
        ("alltoall", 8, 32_769, ScheduleChoice("pairwise")),
        ("gather", 9, 1, ScheduleChoice("binomial")),
        ("scatter", 9, 1 << 20, ScheduleChoice("binomial")),
        ("reduce_scatter", 8, 65_532, ScheduleChoice("recursive_halving")),
        ("reduce_scatter", 8, 65_536, ScheduleChoice("pairwise")),
    ],
)
def test_one_rank_on_each_node(operation: str, ranks: int, size_B: int, expected: ScheduleChoice | None) -> None:
    assert default(operation, ranks, size_B, V4, nodes=ranks) == expected


def test_through_shared_memory_there_is_no_schedule() -> None:
    for operation in ("barrier", "bcast", "reduce", "allreduce"):
        assert default(operation, 8, 64, V4) is None
        assert default(operation, 8, 64, V4, nodes=4) is None
    assert default("gather", 8, 64, V4) == ScheduleChoice("binomial")


@pytest.mark.parametrize("version", [(), (3, 4, 3), (6, 0)])
def test_versions_that_were_not_read(version: tuple[int, ...]) -> None:
    assert default("gather", 8, 64, version) is None


def test_names() -> None:
    assert named("bcast", "mpir:binomial", V4) == ScheduleChoice("knomial", radix=2)
    assert named("allreduce", "reduce_scatter_allgather", V4) == ScheduleChoice("rabenseifner")
    assert named("allreduce", "reduce_scatter_allgather", V4, ranks=8, size_B=28) == ScheduleChoice(
        "recursive_doubling"
    )
    assert named("allgather", "recursive_doubling", V4, ranks=6, size_B=8) == ScheduleChoice("bruck")
    assert named("alltoall", "scattered", V4, ranks=32) == ScheduleChoice("linear")
    assert named("alltoall", "scattered", V4) is None
    assert named("bcast", "smp", V4) is None


def test_every_schedule_named_is_one_of_ours() -> None:
    for operation, schedules in SCHEDULES.items():
        known = {one.name for one in catalogue.algorithms(operation)}
        assert set(schedules.values()) <= known
