"""Each guideline finds what violates it, and nothing else does; sizes are those of the data that is moved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.check.planted import BLOCKS, SIZES, WHOLE, consistent, frame, times

from hockney.check.cells import LaunchTimes, times_in
from hockney.check.guidelines import Bound, guidelines
from hockney.check.study import bounds, study

RANKS, SIZE_B = 4, 4096


def slow(*operations: str, factor: float, at_B: int | None = None, ranks: int | None = None) -> LaunchTimes:
    """Consistent times, but for some operations, at one size and number of ranks or at all."""

    def truth(operation: str, count: int, size_B: int) -> float:
        is_there = operation in operations and at_B in (None, size_B) and ranks in (None, count)
        return consistent(operation, count, size_B) * (factor if is_there else 1.0)

    return times(truth)


def test_a_library_that_keeps_them_violates_none() -> None:
    made = times()
    assert {name for name, _ in bounds(made)} >= set(guidelines.names()) - {"default_as_named"}
    assert study(made, least_factor=1.0).violations == []
    assert not study(made).of("undecided")


VIOLATED: dict[str, Callable[[], LaunchTimes]] = {
    "allgather_as_allreduce": lambda: slow("allgather", factor=20),
    "allgather_as_alltoall": lambda: slow("allgather", factor=20),
    "allgather_as_gather_and_bcast": lambda: slow("allgather", factor=20),
    "allreduce_as_reduce_and_bcast": lambda: slow("allreduce", factor=20),
    "allreduce_as_reduce_scatter_and_allgather": lambda: slow("allreduce", factor=20),
    "bcast_as_scatter_and_allgather": lambda: slow("bcast", factor=20),
    "gather_as_allgather": lambda: slow("gather", factor=20),
    "gather_as_reduce": lambda: slow("gather", factor=20),
    "reduce_as_allreduce": lambda: slow("reduce", factor=20),
    "reduce_as_reduce_scatter_and_gather": lambda: slow("reduce", factor=20),
    "reduce_scatter_as_allreduce": lambda: slow("reduce_scatter", factor=20),
    "reduce_scatter_as_reduce_and_scatter": lambda: slow("reduce_scatter", factor=20),
    "scatter_as_bcast": lambda: slow("scatter", factor=20),
    "barrier_as_allreduce": lambda: slow("barrier", factor=20),
    "monotone_in_bytes": lambda: slow("bcast", factor=20, at_B=SIZE_B),
    "monotone_in_ranks": lambda: slow("bcast", factor=20, ranks=RANKS),
    "split_in_parts": lambda: slow("bcast", factor=200, at_B=SIZES[-1]),
    "default_as_named": lambda: times_in(frame(named={("bcast", "binomial"): 0.5})),
}


@pytest.mark.parametrize("name", guidelines.names())
def test_a_guideline_finds_what_violates_it(name: str) -> None:
    found = study(VIOLATED[name](), [name])
    assert found.violations
    assert all(finding.factor is not None and finding.factor > found.least_factor for finding in found.violations)


def bound(name: str, operation: str, size_B: int, ranks: int = RANKS) -> Bound:
    [found] = [
        bound
        for _, bound in bounds(times(), [name])
        if (bound.slow.call.operation, bound.slow.call.ranks, bound.slow.size_B) == (operation, ranks, size_B)
    ]
    return found


def test_a_vector_is_as_many_blocks_as_there_are_ranks() -> None:
    # 4 KiB on four ranks are blocks of 1 KiB, and a block of 4 KiB is of a vector of 16 KiB.
    parts = bound("bcast_as_scatter_and_allgather", "bcast", SIZE_B).fast
    assert [(part.call.operation, part.size_B) for part in parts] == [("scatter", 1024), ("allgather", 1024)]
    parts = bound("allgather_as_gather_and_bcast", "allgather", SIZE_B).fast
    assert [(part.call.operation, part.size_B) for part in parts] == [("gather", SIZE_B), ("bcast", 4 * SIZE_B)]
    assert [part.size_B for part in bound("gather_as_allgather", "gather", SIZE_B).fast] == [SIZE_B]
    assert [part.size_B for part in bound("scatter_as_bcast", "scatter", SIZE_B).fast] == [4 * SIZE_B]


def test_a_size_that_was_not_timed_is_padded_to_the_next_within_reason() -> None:
    # On eight ranks 4 KiB are blocks of 512 B: 1 KiB is timed. A block of 16 B of a vector of 128 B: 256 B is.
    assert [part.size_B for part in bound("bcast_as_scatter_and_allgather", "bcast", SIZE_B, 8).fast] == [
        1024
    ] * 2
    assert [part.size_B for part in bound("scatter_as_bcast", "scatter", 16, 8).fast] == [256]
    # On two ranks a vector of the largest block would be twice the largest that was timed.
    largest = [
        bound.slow.size_B for _, bound in bounds(times(), ["scatter_as_bcast"]) if bound.slow.call.ranks == 2
    ]
    assert max(largest) == SIZES[-2]


def test_parts_of_a_call_that_is_split() -> None:
    found = [
        bound.fast[0]
        for _, bound in bounds(times(), ["split_in_parts"])
        if bound.slow.call.operation == "bcast" and bound.slow.size_B == SIZE_B and bound.slow.call.ranks == RANKS
    ]
    # Halves are padded to the whole, which is no split, and eighths to quarters.
    assert [(part.times, part.size_B) for part in found] == [(4, 1024), (16, 256)]


def test_parts_have_one_root() -> None:
    made = frame()
    made.loc[made["operation"] == "bcast", "root"] = None
    assert not [name for name, _ in bounds(times_in(made), ["allreduce_as_reduce_and_bcast"])]
    assert not [name for name, _ in bounds(times_in(made), ["scatter_as_bcast"])]


def test_ranks_on_other_nodes_are_no_larger_number_of_the_same() -> None:
    made = frame(sizes=[1024])
    made.loc[made["ranks"] == 8, "nodes"] = 2
    pairs = {
        (bound.slow.call.ranks, bound.fast[0].call.ranks)
        for _, bound in bounds(times_in(made), ["monotone_in_ranks"])
    }
    assert pairs == {(2, 4)}
    made["nodes"] = made["ranks"]
    made["ppn"] = 1
    pairs = {
        (bound.slow.call.ranks, bound.fast[0].call.ranks)
        for _, bound in bounds(times_in(made), ["monotone_in_ranks"])
    }
    assert pairs == {(2, 4), (4, 8)}


def test_every_operation_is_compared() -> None:
    compared = {bound.slow.call.operation for _, bound in bounds(times())}
    assert compared == {*BLOCKS, *WHOLE, "barrier"}
