"""How large a schedule may be: numbers that would overflow and memory that is not there are refused in words."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Kind, Problem

MOST = 2**30
DOUBLING = [
    ("bcast", "binomial", 30),
    ("bcast", "binary", 2),
    ("bcast", "circulant", 30),
    ("bcast", "halving_tree", 30),
    ("bcast", "knomial", 45),  # radix 4: three children on each of 15 levels
    ("allreduce", "recursive_doubling", 30),
    ("allreduce", "rabenseifner", 60),  # there and back
    ("reduce_scatter", "recursive_halving", 30),
    ("barrier", "recursive_doubling", 30),
    ("barrier", "dissemination", 30),
]
"""(collective, algorithm, messages that rank 0 of 2^30 sends)"""


@pytest.mark.parametrize(("collective", "algorithm", "sent"), DOUBLING)
def test_rank_numbers_do_not_overflow_up_to_2_to_the_30(collective: str, algorithm: str, sent: int) -> None:
    # A vector of which every rank has a part; blocks of one element.
    size_B = {"barrier": 0, "reduce_scatter": 4}.get(collective, 4 * MOST)
    problem = Problem(ranks=MOST, bytes=size_B, element_B=4)
    first = _core.generate_rank(collective, algorithm, problem, 0)
    assert sum(step.kind == Kind.send for step in first.steps) == sent
    for rank in (0, MOST // 2, MOST - 1):
        for step in _core.generate_rank(collective, algorithm, problem, rank).steps:
            if step.kind in (Kind.send, Kind.receive):
                assert 0 <= step.peer < MOST
                assert step.peer != rank


@pytest.mark.parametrize("ranks", [MOST + 1, 2**31 - 1])
def test_more_ranks_are_refused_by_every_algorithm(ranks: int) -> None:
    for algorithm in _core.algorithms():
        reason = _core.refusal(algorithm.collective, algorithm.name, Problem(ranks=ranks))
        assert reason == f"the number of ranks must be at most 1073741824 (2^30), not {ranks}"


def test_segments_beyond_an_int_are_refused() -> None:
    # 2^32 + 1 segments of 1 B were counted as one.
    problem = Problem(ranks=3, bytes=2**32 + 1, segment_B=1)
    assert _core.refusal("bcast", "circulant", problem).startswith("4294967297 segments are more than")


@pytest.mark.parametrize(
    ("collective", "ranks", "size_B"),
    [("alltoall", 4, 9 * 10**18), ("allgather", 2**20, 2**45), ("bcast", 2, 9 * 10**18)],
)
def test_bytes_beyond_63_bits_are_refused(collective: str, ranks: int, size_B: int) -> None:
    reason = _core.refusal(collective, "linear", Problem(ranks=ranks, bytes=size_B))
    assert reason == f"{size_B} bytes of {collective} on {ranks} ranks are more than can be counted (2^63)"


def test_totals_beyond_63_bits_are_refused() -> None:
    # Each rank's part fits; 1024 · 1023 messages of 2^45 B do not.
    problem = Problem(ranks=1024, bytes=2**45)
    schedule = _core.generate("alltoall", "linear", problem)
    with pytest.raises(_core.TooLarge, match="all messages together"):
        _core.count(schedule)
    # The largest power of two that does: 2^20 · 2^42 < 2^63.
    assert _core.count(_core.generate("alltoall", "linear", Problem(ranks=1024, bytes=2**42))).bytes > 2**61


def test_too_many_ranks_to_hold_are_refused_at_once() -> None:
    with pytest.raises(_core.TooLarge, match="2097152 ranks"):
        _core.generate("bcast", "binomial", Problem(ranks=2**21, bytes=8))


@pytest.mark.thorough
def test_dependencies_count_as_memory() -> None:
    # The root's P signals depend on P reports each: 4 P² bytes, 40 GB.
    with pytest.raises(_core.TooLarge, match="4 GiB"):
        _core.generate_rank("barrier", "linear", Problem(ranks=100_000), 0)


def test_a_proof_too_large_for_memory_is_refused() -> None:
    # 65,536 ranks with one vector of 2^16 elements each: 2^32 elements.
    problem = Problem(ranks=2**16, bytes=2**16)
    schedule = _core.generate("bcast", "binomial", problem)
    with pytest.raises(_core.TooLarge, match="a proof on 65536 ranks"):
        _core.verify("bcast", problem, schedule)


def test_steps_are_counted_only_as_far_as_asked() -> None:
    # A binomial broadcast has P − 1 messages, each with two ends.
    problem = Problem(ranks=1000, bytes=8)
    assert _core.count_steps("bcast", "binomial", problem, 10**6) == 2 * 999
    assert 100 < _core.count_steps("bcast", "binomial", Problem(ranks=MOST, bytes=8), 100) < 200
