"""Allreduce: closed forms of its algorithms' costs."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Problem

POWERS = (1, 2, 4, 8, 32, 64)
OTHERS = (3, 5, 6, 7, 12, 31, 63)
RANKS = sorted(POWERS + OTHERS)


def count(algorithm: str, ranks: int, size_B: int, segment_B: int = 0) -> Counts:
    problem = Problem(ranks=ranks, bytes=size_B, segment_B=segment_B)
    return _core.count(_core.generate("allreduce", algorithm, problem))


def floor_log2(ranks: int) -> int:
    return ranks.bit_length() - 1


@pytest.mark.parametrize("ranks", POWERS)
def test_recursive_doubling_at_powers_of_two(ranks: int) -> None:
    # (α + nβ + nγ) log₂P (Thakur, Rabenseifner and Gropp 2005).
    counts = count("recursive_doubling", ranks, 100)
    log = floor_log2(ranks)
    assert counts.rounds == log
    assert counts.critical_bytes == 100 * log
    assert counts.messages == ranks * log
    assert counts.reduced_bytes == 100 * ranks * log


@pytest.mark.parametrize("ranks", POWERS)
def test_rabenseifner_at_powers_of_two(ranks: int) -> None:
    # 2α log₂P + 2 (P − 1)/P nβ + (P − 1)/P nγ (Thakur, Rabenseifner and Gropp 2005).
    counts = count("rabenseifner", ranks, 12 * ranks)
    assert counts.rounds == 2 * floor_log2(ranks)
    assert counts.critical_bytes == 2 * (ranks - 1) * 12
    assert counts.messages == 2 * ranks * floor_log2(ranks)
    assert counts.reduced_bytes == ranks * (ranks - 1) * 12


@pytest.mark.parametrize("ranks", OTHERS)
@pytest.mark.parametrize(("algorithm", "exchanges"), [("recursive_doubling", 1), ("rabenseifner", 2)])
def test_ranks_too_many_hand_in_first_and_get_the_result_last(ranks: int, algorithm: str, exchanges: int) -> None:
    # "This takes two more steps" and twice the vector more (the same paper).
    log = floor_log2(ranks)
    nodes, extra = 2**log, ranks - 2**log
    inner, counts = count(algorithm, nodes, 12 * nodes), count(algorithm, ranks, 12 * nodes)
    assert counts.rounds == exchanges * log + 2
    assert counts.critical_bytes == inner.critical_bytes + 2 * 12 * nodes
    assert counts.messages == inner.messages + 2 * extra


@pytest.mark.parametrize("ranks", RANKS)
def test_ring(ranks: int) -> None:
    # 2(P − 1) steps with 1/P of the vector each (Patarasuk and Yuan 2009, which is the least volume there is).
    counts = count("ring", ranks, 12 * ranks)
    assert counts.rounds == 2 * (ranks - 1)
    assert counts.critical_bytes == 2 * (ranks - 1) * 12
    assert counts.messages == 2 * ranks * (ranks - 1)
    assert set(counts.sent_bytes) == set(counts.received_bytes) == {2 * (ranks - 1) * 12}
    assert counts.reduced_bytes == ranks * (ranks - 1) * 12
    assert counts.max_degree == min(1, ranks - 1)


@pytest.mark.parametrize("ranks", [2, 3, 8, 13])
@pytest.mark.parametrize("segments", [1, 2, 4])
def test_segmented_ring_cuts_the_first_way_round_only(ranks: int, segments: int) -> None:
    # As Open MPI's ring_segmented: (P − 1) blocks of S segments to add up, then (P − 1) whole blocks.
    counts = count("segmented_ring", ranks, 12 * ranks, segment_B=12 // segments)
    assert counts.messages == ranks * (ranks - 1) * (segments + 1)
    assert counts.rounds == (ranks - 1) * (segments + 1)
    assert set(counts.sent_bytes) == {2 * (ranks - 1) * 12}
    assert counts.reduced_bytes == ranks * (ranks - 1) * 12
    # The port is never idle: the way of the data is as long as without segments.
    assert counts.critical_bytes == 2 * (ranks - 1) * 12


@pytest.mark.parametrize("ranks", RANKS)
def test_reduce_bcast(ranks: int) -> None:
    # Two binomial trees, one after the other.
    counts = count("reduce_bcast", ranks, 100)
    assert counts.rounds == 2 * (ranks - 1).bit_length()
    assert counts.messages == 2 * (ranks - 1)
    assert counts.critical_bytes == 100 * counts.rounds
    assert counts.reduced_bytes == 100 * (ranks - 1)


@pytest.mark.parametrize("segment_B", [0, 10, 30])
def test_reduce_bcast_is_the_one_and_then_the_other(segment_B: int) -> None:
    # Open MPI's name for it is nonoverlapping: the first segment comes down after the last has gone up.
    problem = Problem(ranks=13, bytes=100, segment_B=segment_B)
    up, down = (
        _core.count(_core.generate(collective, "binomial", problem)) for collective in ("reduce", "bcast")
    )
    counts = count("reduce_bcast", 13, 100, segment_B)
    assert counts.rounds == up.rounds + down.rounds
    assert counts.critical_bytes == up.critical_bytes + down.critical_bytes
    assert counts.messages == up.messages + down.messages


@pytest.mark.parametrize("ranks", [*RANKS, 22, 100])
def test_circulant(ranks: int) -> None:
    # 2⌈log₂P⌉ rounds, 2(P − 1) blocks sent, P − 1 blocks added up by each rank, for any P (Träff, arXiv
    # 2410.14234).
    counts = count("circulant", ranks, 12 * ranks)
    assert counts.rounds == 2 * (ranks - 1).bit_length()
    assert counts.messages == ranks * counts.rounds
    assert set(counts.sent_bytes) == set(counts.received_bytes) == {2 * (ranks - 1) * 12}
    assert counts.critical_bytes == 2 * (ranks - 1) * 12
    assert counts.reduced_bytes == ranks * (ranks - 1) * 12


@pytest.mark.parametrize("algorithm", ["ring", "rabenseifner", "circulant"])
def test_blocks_differ_by_one_element_at_most(algorithm: str) -> None:
    # 9 elements for 8 ranks: 2 of them for one, 1 for each other, so no message is longer than the rest by
    # more than what that one element adds.
    counts, even = count(algorithm, 8, 9), count(algorithm, 8, 8)
    assert even.critical_bytes < counts.critical_bytes <= 2 * even.critical_bytes
    assert counts.reduced_bytes == 7 * 9


@pytest.mark.parametrize(
    ("algorithm", "ordered"),
    [
        ("recursive_doubling", True),
        ("rabenseifner", True),
        ("reduce_bcast", True),
        ("ring", False),
        ("segmented_ring", False),
        ("circulant", False),
    ],
)
def test_rank_order_is_kept_or_refused(algorithm: str, *, ordered: bool) -> None:
    refusal = _core.refusal("allreduce", algorithm, Problem(ranks=6, bytes=8, commutative=False))
    assert (refusal == "") == ordered
    assert ordered or "commutative" in refusal
