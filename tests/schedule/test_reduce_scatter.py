"""Reduce-scatter: closed forms of its algorithms' costs; `bytes` is one rank's block."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem, Schedule

RANKS = (1, 2, 3, 4, 5, 7, 8, 12, 22, 31, 64, 100)
BLOCK_B = 12


def generate(algorithm: str, ranks: int) -> Schedule:
    return _core.generate("reduce_scatter", algorithm, Problem(ranks=ranks, bytes=BLOCK_B))


def count(algorithm: str, ranks: int) -> Counts:
    return _core.count(generate(algorithm, ranks))


def targets(schedule: Schedule, rank: int) -> list[int]:
    return [step.peer for step in schedule[rank].steps if step.kind == Kind.send]


@pytest.mark.parametrize("algorithm", ["ring", "pairwise", "circulant"])
@pytest.mark.parametrize("ranks", RANKS)
def test_each_rank_sends_receives_and_adds_one_block_less_than_ranks(algorithm: str, ranks: int) -> None:
    # The least there is (Träff, arXiv 2410.14234, theorem 1).
    counts = count(algorithm, ranks)
    assert set(counts.sent_bytes) == set(counts.received_bytes) == {(ranks - 1) * BLOCK_B}
    assert counts.critical_bytes == (ranks - 1) * BLOCK_B
    assert counts.reduced_bytes == ranks * (ranks - 1) * BLOCK_B
    assert counts.messages == ranks * counts.rounds


@pytest.mark.parametrize("ranks", RANKS)
def test_rounds(ranks: int) -> None:
    assert count("ring", ranks).rounds == ranks - 1
    assert count("pairwise", ranks).rounds == ranks - 1
    assert count("circulant", ranks).rounds == (ranks - 1).bit_length()


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 64])
def test_recursive_halving_at_powers_of_two(ranks: int) -> None:
    # log₂P α + (P − 1)/P n(β + γ), n the whole vector (Thakur, Rabenseifner and Gropp 2005).
    counts = count("recursive_halving", ranks)
    log = ranks.bit_length() - 1
    assert counts.rounds == log
    assert counts.critical_bytes == (ranks - 1) * BLOCK_B
    assert counts.messages == ranks * log
    assert counts.reduced_bytes == ranks * (ranks - 1) * BLOCK_B


@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 12, 31, 63])
def test_recursive_halving_elsewhere(ranks: int) -> None:
    # A rank too many hands its vector to a neighbour and gets its block in the end: two rounds more.
    log = ranks.bit_length() - 1
    extra = ranks - 2**log
    counts = count("recursive_halving", ranks)
    assert counts.rounds == log + 2
    assert counts.messages == 2**log * log + 2 * extra
    # What an even rank of a pair sends is all it has; it receives nothing but its block.
    assert counts.sent_bytes[0] == ranks * BLOCK_B
    assert counts.received_bytes[0] == BLOCK_B


def test_partners() -> None:
    assert targets(generate("ring", 5), 4) == [0] * 4
    assert targets(generate("pairwise", 5), 3) == [4, 0, 1, 2]
    assert targets(generate("recursive_halving", 8), 5) == [1, 7, 4]
    # The largest skip first: 22 halved again and again, rounded up.
    assert targets(generate("circulant", 22), 0) == [11, 6, 3, 2, 1]


def test_memory() -> None:
    def blocks(algorithm: str) -> set[int]:
        return {mine.scratch_B // BLOCK_B for mine in generate(algorithm, 16)}

    assert blocks("ring") == {3}  # one is sent, one added to, one receives
    assert blocks("pairwise") == {2}  # one is added, one receives
    assert blocks("circulant") == {16 + 8}  # the vector; the first round brings half as much


@pytest.mark.parametrize("algorithm", ["ring", "pairwise", "recursive_halving", "circulant"])
def test_the_operator_must_be_commutative(algorithm: str) -> None:
    problem = Problem(ranks=6, bytes=8, commutative=False)
    assert "commutative" in _core.refusal("reduce_scatter", algorithm, problem)
