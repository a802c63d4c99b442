"""openmpi: decisions transcribed by hand from the sources, and what replaces an algorithm."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import InnerCollective, ScheduleChoice, libraries
from hockney.predict.decisions.openmpi import SCHEDULES
from hockney.schedule import catalogue

default, named = libraries.get("openmpi").default, libraries.get("openmpi").named

V4_0, V4_1, V5_0 = (4, 0, 7), (4, 1, 5), (5, 0, 10)


def names(operation: str, version: tuple[int, ...], points: list[tuple[int, int]]) -> list[str | None]:
    """The schedule's name at each (ranks, bytes)."""
    choices = [default(operation, ranks, size_B, version) for ranks, size_B in points]
    return [None if choice is None else choice.algorithm for choice in choices]


def test_barrier_from_4_1_on() -> None:
    # coll_tuned_decision_fixed.c, barrier_intra_dec_fixed: 3 below 4 ranks, 1 below 8, 3 below 64, 4 below 256,
    # 6 below 512, 4 below 1024, 6 below 4096, else 4.
    ranks = [2, 3, 4, 7, 8, 63, 64, 255, 256, 511, 512, 1023, 1024, 4095, 4096, 1 << 20]
    doubling, bruck = "recursive_doubling", "dissemination"
    expected = [doubling] * 2 + ["linear"] * 2 + [doubling] * 2 + [bruck] * 2
    expected += ["tree"] * 2 + [bruck] * 2 + ["tree"] * 2 + [bruck] * 2
    for version in (V4_1, V5_0):
        assert names("barrier", version, [(one, 0) for one in ranks]) == expected


def test_barrier_before_4_1() -> None:
    # two_proc at 2, recursive doubling at powers of two, else bruck.
    ranks = [2, 3, 4, 6, 64, 254, 256]
    doubling, bruck = "recursive_doubling", "dissemination"
    expected = [doubling, bruck, doubling, bruck, doubling, bruck, doubling]
    assert names("barrier", V4_0, [(one, 0) for one in ranks]) == expected


@pytest.mark.parametrize(
    ("operation", "ranks", "size_B", "expected"),
    [
        # Both sides of some bounds of each function in coll_tuned_decision_fixed.c of 4.1.5.
        ("bcast", 3, 31, ScheduleChoice("pipeline")),
        ("bcast", 3, 32, ScheduleChoice("binary")),
        ("bcast", 7, 1 << 20, ScheduleChoice("chain", radix=1)),
        ("bcast", 16, 4095, ScheduleChoice("knomial", radix=4)),
        ("bcast", 16, 4096, ScheduleChoice("binomial")),
        ("bcast", 31, 1 << 20, ScheduleChoice("scatter_allgather")),
        ("bcast", 127, 1, ScheduleChoice("knomial", radix=4)),
        ("bcast", 128, 16_383, ScheduleChoice("binary")),
        ("bcast", 128, 16_384, ScheduleChoice("linear")),
        ("bcast", 255, 65_536, ScheduleChoice("knomial", radix=4)),
        ("bcast", 256, 32_767, ScheduleChoice("split_binary")),
        ("reduce", 7, 4096, ScheduleChoice("chain", radix=1)),
        ("reduce", 15, 8191, ScheduleChoice("binary")),
        ("reduce", 15, 8192, ScheduleChoice("binomial")),
        ("reduce", 255, 1 << 20, ScheduleChoice("binomial")),
        ("reduce", 256, 8192, None),
        ("allreduce", 8, 8188, ScheduleChoice("recursive_doubling")),
        ("allreduce", 8, 8192, ScheduleChoice("rabenseifner")),
        ("allreduce", 127, 262_140, ScheduleChoice("recursive_doubling")),
        ("allreduce", 256, 4096, ScheduleChoice("rabenseifner")),
        ("allgather", 2, 1 << 20, ScheduleChoice("recursive_doubling")),
        ("allgather", 16, 1 << 20, ScheduleChoice("recursive_doubling")),
        ("allgather", 32, 1024, ScheduleChoice("neighbor_exchange")),
        ("allgather", 64, 65_536, ScheduleChoice("ring")),
        ("alltoall", 2, 1, ScheduleChoice("pairwise")),
        ("alltoall", 16, 511, ScheduleChoice("bruck")),
        ("alltoall", 16, 512, ScheduleChoice("linear")),
        ("alltoall", 64, 262_144, ScheduleChoice("pairwise")),
        ("gather", 3, 1, ScheduleChoice("linear_sync")),
        ("gather", 300, 2048, ScheduleChoice("linear")),
        ("scatter", 16, 16_384, ScheduleChoice("linear")),
        ("scatter", 16, 32_768, ScheduleChoice("linear_nonblocking")),
        # The bound is on all blocks together: 262144 B = 16 × 16384 B.
        ("reduce_scatter", 16, 16_380, ScheduleChoice("recursive_halving")),
        ("reduce_scatter", 16, 16_384, ScheduleChoice("ring")),
        ("reduce_scatter", 64, 1024, None),
    ],
)
def test_from_4_1_on(operation: str, ranks: int, size_B: int, expected: ScheduleChoice | None) -> None:
    assert default(operation, ranks, size_B, V4_1) == expected
    assert default(operation, ranks, size_B, V5_0) == expected


@pytest.mark.parametrize(
    ("operation", "ranks", "size_B", "expected"),
    [
        ("bcast", 64, 2047, ScheduleChoice("binomial")),
        ("bcast", 64, 2048, ScheduleChoice("split_binary", 1024)),
        # 1.6134e-6 · 1 MiB + 2.1102 = 3.80, 2.3679e-6 · 1 MiB + 1.1787 = 3.66, 3.2118e-6 · 1 MiB + 8.7936 = 12.16
        ("bcast", 3, 1 << 20, ScheduleChoice("pipeline", 128 << 10)),
        ("bcast", 4, 1 << 20, ScheduleChoice("split_binary", 8 << 10)),
        ("bcast", 13, 1 << 20, ScheduleChoice("pipeline", 8 << 10)),
        # 3.2118e-6 · 4 MiB + 8.7936 = 22.3 and 2.3679e-6 · 4 MiB + 1.1787 = 11.1
        ("bcast", 22, 4 << 20, ScheduleChoice("pipeline", 16 << 10)),
        # 2.3679e-6 · 8 MiB + 1.1787 = 21.04 and 1.6134e-6 · 8 MiB + 2.1102 = 15.6
        ("bcast", 21, 8 << 20, ScheduleChoice("pipeline", 64 << 10)),
        ("reduce", 7, 508, ScheduleChoice("linear")),
        ("reduce", 7, 512, ScheduleChoice("binomial")),
        ("reduce", 8, 2044, ScheduleChoice("binomial")),
        # 0.6016 · 8 + 1.3496 = 6.2; 0.6016 · 64 + 1.3496 = 39.9 and 0.041 · 64 + 9.7128 = 12.3
        ("reduce", 8, 8 << 10, ScheduleChoice("binomial", 1 << 10)),
        ("reduce", 16, 64 << 10, ScheduleChoice("pipeline", 1 << 10)),
        # 0.0410 · 64 + 9.7128 = 12.3 and 0.0422 · 64 + 1.1614 = 3.9
        ("reduce", 8, 64 << 10, ScheduleChoice("binary", 32 << 10)),
        # 0.0422 · 1024 + 1.1614 = 44.4 and 0.0033 · 1024 + 1.6761 = 5.06
        ("reduce", 8, 1 << 20, ScheduleChoice("pipeline", 32 << 10)),
        ("reduce", 5, 1 << 20, ScheduleChoice("pipeline", 64 << 10)),
        ("allreduce", 8, 9996, ScheduleChoice("recursive_doubling")),
        ("allreduce", 8, 8 << 20, ScheduleChoice("ring")),
        ("allreduce", 8, (8 << 20) + 4, ScheduleChoice("segmented_ring", 1 << 20)),
        ("allgather", 12, 4166, ScheduleChoice("bruck")),
        ("allgather", 12, 4167, ScheduleChoice("neighbor_exchange")),
        ("allgather", 16, 3124, ScheduleChoice("recursive_doubling")),
        ("allgather", 15, 3334, ScheduleChoice("ring")),
        ("alltoall", 13, 199, ScheduleChoice("bruck")),
        ("alltoall", 12, 199, ScheduleChoice("linear")),
        ("alltoall", 12, 3000, ScheduleChoice("pairwise")),
        ("gather", 61, 6000, ScheduleChoice("binomial")),
        ("gather", 60, 6000, ScheduleChoice("linear")),
        ("gather", 11, 1023, ScheduleChoice("binomial")),
        ("gather", 4, 6001, ScheduleChoice("linear_sync", 1024)),
        ("gather", 4, 92_161, ScheduleChoice("linear_sync", 32_768)),
        ("scatter", 11, 299, ScheduleChoice("binomial")),
        ("scatter", 11, 300, ScheduleChoice("linear")),
        ("reduce_scatter", 12, 1024, ScheduleChoice("recursive_halving")),
        ("reduce_scatter", 12, 1028, ScheduleChoice("ring")),
        ("reduce_scatter", 16, 16_384, ScheduleChoice("recursive_halving")),
    ],
)
def test_before_4_1(operation: str, ranks: int, size_B: int, expected: ScheduleChoice) -> None:
    for version in ((1, 10, 7), (3, 1, 6), V4_0):
        assert default(operation, ranks, size_B, version) == expected


def test_no_answer_is_made_up() -> None:
    assert default("bcast", 8, 8, (1, 6, 5)) is None
    assert default("bcast", 8, 8, (6, 0, 0)) is None
    assert default("bcast", 8, 8, ()) is None
    assert default("bcast", 1, 8, V4_1) is None


def test_han_takes_over_where_ranks_share_several_nodes_from_5_0_on() -> None:
    assert default("bcast", 8, 8, V5_0, nodes=2) is None
    # It passes most calls on where nodes have different numbers of ranks; which, is not known here.
    assert default("bcast", 8, 8, V5_0, nodes=7) is None
    # Several nodes, and nobody says how many.
    assert default("bcast", 8, 8, V5_0, nodes=None) is None
    assert default("bcast", 8, 8, V4_1, nodes=None) == default("bcast", 8, 8, V4_1)
    assert default("bcast", 8, 8, V4_1, nodes=2) == default("bcast", 8, 8, V4_1)
    # With a rank on each node it passes calls on: counted in a lab by `bench/watching`.
    assert default("bcast", 8, 8, V5_0, nodes=8) == default("bcast", 8, 8, V4_1)
    assert default("alltoall", 8, 8, V5_0, nodes=2) == default("alltoall", 8, 8, V4_1)


def test_few_elements_get_another_algorithm() -> None:
    # 16 to 31 ranks below 64 B: segmented ring; without segments ring, with fewer elements than ranks doubling.
    assert default("allreduce", 16, 60, V4_1) == ScheduleChoice("recursive_doubling")
    assert default("allreduce", 16, 60, V4_1, element_B=1) == ScheduleChoice("ring")
    # 2 and 3 ranks, 4 B: rabenseifner needs two elements.
    assert default("reduce", 2, 4, V4_1) == ScheduleChoice("linear")
    assert default("reduce", 2, 4, V4_1, element_B=1) == ScheduleChoice("rabenseifner")
    # Both halves of a split binary tree must fill a segment.
    assert named("bcast", "split_binary_tree", V4_1, ranks=8, size_B=2046, segment_B=1024) == ScheduleChoice(
        "pipeline", 1024
    )
    assert named("bcast", "split_binary_tree", V4_1, ranks=8, size_B=2048, segment_B=1024) == ScheduleChoice(
        "split_binary", 1024
    )
    assert named("bcast", "scatter_allgather", V4_1, ranks=8, size_B=7) == ScheduleChoice("linear")
    assert named("allreduce", "segmented_ring", V4_1, ranks=8, size_B=8188, segment_B=1024) == ScheduleChoice(
        "ring"
    )
    assert named("allreduce", "segmented_ring", V4_1, ranks=8, size_B=8192, segment_B=1024) == ScheduleChoice(
        "segmented_ring", 1024
    )


def test_numbers_of_ranks_get_another_algorithm() -> None:
    assert named("allgather", "recursive_doubling", V4_1, ranks=6) == ScheduleChoice("bruck")
    assert named("allgather", "neighbor", V4_1, ranks=7) == ScheduleChoice("ring")
    assert named("barrier", "two_proc", V4_1, ranks=2) == ScheduleChoice("recursive_doubling")
    assert named("barrier", "two_proc", V4_1, ranks=3) is None


def test_an_allreduce_of_two_collectives_names_them() -> None:
    # 128 to 255 ranks below 128 KiB: reduce and bcast as they are by default, here binomial and binary.
    assert default("allreduce", 200, 1024, V4_1) == ScheduleChoice(
        "reduce_bcast",
        parts=(
            InnerCollective("reduce", 1024, ScheduleChoice("binomial")),
            InnerCollective("bcast", 1024, ScheduleChoice("binary")),
        ),
    )
    # At 128 ranks and 100000 B bcast is knomial; at 20000 ranks and 1 KiB reduce is in order: no schedule.
    assert default("allreduce", 20_000, 1024, V4_1) is None
    linear = (
        InnerCollective("reduce", 4, ScheduleChoice("linear")),
        InnerCollective("bcast", 4, ScheduleChoice("linear")),
    )
    assert named("allreduce", "basic_linear", V4_1, ranks=4, size_B=4) == ScheduleChoice(
        "reduce_bcast", parts=linear
    )


def test_forced_algorithms_have_the_library_s_fan_out() -> None:
    assert named("bcast", "chain", V4_1) == ScheduleChoice("chain", radix=4)
    assert named("reduce", "tuned:chain", V4_1, segment_B=4096) == ScheduleChoice("chain", 4096, 4)
    assert named("bcast", "knomial", V4_1) == ScheduleChoice("knomial", radix=4)
    assert named("bcast", "basic-linear", V4_1, segment_B=4096) == ScheduleChoice("linear")


@pytest.mark.parametrize(
    ("operation", "name", "expected"),
    [
        ("bcast", "linear", "linear"),
        ("bcast", "binary", "binary"),
        ("bcast", "Split Binary Tree", "split_binary"),
        ("barrier", "bruck", "dissemination"),
        ("alltoall", "modified-bruck", "bruck"),
        ("alltoall", "linear_sync", "linear"),
        ("gather", "linear_synch", "linear_sync"),
        ("scatter", "linear_nb", "linear_nonblocking"),
        ("reduce_scatter", "recursive_halfing", "recursive_halving"),
        ("allreduce", "nonoverlapping", "reduce_bcast"),
    ],
)
def test_names(operation: str, name: str, expected: str) -> None:
    choice = named(operation, name, V4_1)
    assert choice is not None
    assert choice.algorithm == expected


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("reduce", "in-order_binary"),
        ("reduce", "in_order"),
        ("reduce_scatter", "butterfly"),
        ("reduce_scatter", "non-overlapping"),
        ("allgather", "sparbit"),
        ("bcast", "han:simple"),
        ("bcast", "binomail"),
        ("pingpong", "linear"),
    ],
)
def test_names_without_a_schedule(operation: str, name: str) -> None:
    assert named(operation, name, V4_1) is None


def test_every_schedule_named_is_one_of_ours() -> None:
    for operation, schedules in SCHEDULES.items():
        known = {one.name for one in catalogue.algorithms(operation)}
        assert {schedule for schedule in schedules.values() if schedule} <= known
