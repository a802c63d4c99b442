"""Allgather: closed forms of its algorithms' costs; `bytes` is one rank's block."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem, Schedule

RANKS = (1, 2, 3, 4, 5, 7, 8, 12, 22, 31, 64, 100)
BLOCK_B = 12


def generate(algorithm: str, ranks: int) -> Schedule:
    return _core.generate("allgather", algorithm, Problem(ranks=ranks, bytes=BLOCK_B))


def count(algorithm: str, ranks: int) -> Counts:
    return _core.count(generate(algorithm, ranks))


def targets(schedule: Schedule, rank: int) -> list[int]:
    return [step.peer for step in schedule[rank].steps if step.kind == Kind.send]


def defined(algorithm: str, ranks: int) -> bool:
    return not _core.refusal("allgather", algorithm, Problem(ranks=ranks, bytes=BLOCK_B))


@pytest.mark.parametrize("algorithm", ["ring", "recursive_doubling", "bruck", "neighbor_exchange", "circulant"])
@pytest.mark.parametrize("ranks", RANKS)
def test_each_rank_sends_and_receives_every_other_block_once(algorithm: str, ranks: int) -> None:
    # (P − 1) blocks: a rank lacks just as many, so none can do with less.
    if not defined(algorithm, ranks):
        return
    counts = count(algorithm, ranks)
    assert set(counts.sent_bytes) == set(counts.received_bytes) == {(ranks - 1) * BLOCK_B}
    assert counts.critical_bytes == (ranks - 1) * BLOCK_B
    assert counts.messages == ranks * counts.rounds


@pytest.mark.parametrize("ranks", RANKS)
def test_rounds(ranks: int) -> None:
    # P − 1, ⌈log₂P⌉, ⌈log₂P⌉ (Thakur, Rabenseifner and Gropp 2005, section 4.1); Träff, arXiv 2410.14234.
    assert count("ring", ranks).rounds == ranks - 1
    for algorithm in ("recursive_doubling", "bruck", "circulant"):
        if defined(algorithm, ranks):
            assert count(algorithm, ranks).rounds == (ranks - 1).bit_length()
    # Half the ring's (Chen et al. 2005).
    if ranks % 2 == 0:
        assert count("neighbor_exchange", ranks).rounds == ranks // 2


@pytest.mark.parametrize("ranks", RANKS)
def test_linear_gathers_and_broadcasts(ranks: int) -> None:
    counts = count("linear", ranks)
    assert counts.messages == counts.rounds == 2 * (ranks - 1)
    assert counts.bytes == counts.critical_bytes == (ranks - 1) * (1 + ranks) * BLOCK_B


def test_partners() -> None:
    # Of rank 0 of 22: powers of two; halves rounded up, from 1 on (Träff, arXiv 2410.14234).
    assert targets(generate("bruck", 22), 0) == [22 - skip for skip in (1, 2, 4, 8, 16)]
    assert targets(generate("circulant", 22), 0) == [22 - skip for skip in (1, 2, 3, 6, 11)]
    assert targets(generate("recursive_doubling", 8), 5) == [4, 7, 1]
    assert targets(generate("ring", 5), 4) == [0] * 4
    # Even ranks begin to the right, odd ones to the left, and then they take turns.
    assert targets(generate("neighbor_exchange", 8), 2) == [3, 1, 3, 1]
    assert targets(generate("neighbor_exchange", 8), 3) == [2, 4, 2, 4]


def test_message_lengths() -> None:
    def blocks(algorithm: str, ranks: int) -> list[int]:
        steps = generate(algorithm, ranks)[0].steps
        return [step.source.length_B // BLOCK_B for step in steps if step.kind == Kind.send]

    assert blocks("recursive_doubling", 8) == [1, 2, 4]
    assert blocks("bruck", 22) == [1, 2, 4, 8, 6]  # what is still missing in the end
    assert blocks("circulant", 22) == [1, 1, 3, 5, 11]  # skip[k + 1] − skip[k]
    assert blocks("neighbor_exchange", 8) == [1, 2, 2, 2]


def test_only_the_algorithms_that_collect_in_rotated_order_need_memory_of_their_own() -> None:
    for algorithm in ("linear", "ring", "recursive_doubling", "neighbor_exchange"):
        assert {mine.scratch_B for mine in generate(algorithm, 8)} == {0}, algorithm
    for algorithm in ("bruck", "circulant"):
        assert {mine.scratch_B for mine in generate(algorithm, 8)} == {8 * BLOCK_B}, algorithm


def test_what_is_not_defined_is_refused_in_words() -> None:
    def refusal(algorithm: str, ranks: int) -> str:
        return _core.refusal("allgather", algorithm, Problem(ranks=ranks, bytes=8))

    assert refusal("neighbor_exchange", 5) == "neighbor_exchange needs an even number of ranks, not 5"
    assert refusal("recursive_doubling", 6) == "recursive_doubling needs a power of two of ranks, not 6"
    assert refusal("neighbor_exchange", 6) == refusal("recursive_doubling", 16) == ""
