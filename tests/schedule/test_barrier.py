"""Barriers against the literature: rounds and messages in closed form, partners as Open MPI has them."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Kind, Problem


def steps(algorithm: str, ranks: int, rank: int) -> list[tuple[str, int]]:
    """What a rank does, in this order."""
    mine = _core.generate_rank("barrier", algorithm, Problem(ranks=ranks), rank)
    return [("to" if step.kind == Kind.send else "from", step.peer) for step in mine.steps]


def log2(ranks: int) -> int:
    """⌈log₂ P⌉."""
    return (ranks - 1).bit_length()


def power(ranks: int) -> int:
    """The largest power of two within the ranks."""
    return 1 << (ranks.bit_length() - 1)


@pytest.mark.parametrize(
    "algorithm", [algorithm.name for algorithm in _core.algorithms() if algorithm.collective == "barrier"]
)
def test_rounds_and_messages(algorithm: str) -> None:
    for ranks in range(2, 66):
        within = power(ranks)
        extra = ranks - within
        # Hensgen, Finkel and Manber (1988) for dissemination; the others from the definitions in Open MPI's
        # barrier_intra_*, each message taking one round; a synchronous send there is acknowledged.
        rounds, messages = {
            "linear": (2 * (ranks - 1), 2 * (ranks - 1)),
            "double_ring": (3 * ranks, 3 * ranks),
            "dissemination": (log2(ranks), ranks * log2(ranks)),
            "recursive_doubling": (log2(within) + (3 if extra else 0), within * log2(within) + 3 * extra),
            "tree": (2 * log2(ranks), 2 * (ranks - 1)),
        }[algorithm]
        counts = _core.count(_core.generate("barrier", algorithm, Problem(ranks=ranks)))
        assert (counts.rounds, counts.messages, counts.bytes) == (rounds, messages, 0), f"{ranks} ranks"


def test_linear_meets_at_rank_0() -> None:
    assert steps("linear", 4, 0) == [("from", 1), ("from", 2), ("from", 3), ("to", 1), ("to", 2), ("to", 3)]
    assert steps("linear", 4, 2) == [("to", 0), ("from", 0)]


def test_double_ring_starts_at_rank_0() -> None:
    for ranks in range(2, 18):
        once = [("to", 1), ("from", ranks - 1)]
        assert steps("double_ring", ranks, 0) == [*once, ("to", 1), ("from", 1), once[1], ("to", ranks - 1)]
        for rank in range(1, ranks):
            before, after = rank - 1, (rank + 1) % ranks
            once = [("from", before), ("to", after)]
            heard = [("to", before), ("to", after), ("from", after)]
            assert steps("double_ring", ranks, rank) == [*once, ("from", before), *heard]


def test_recursive_doubling_lets_the_ranks_too_many_wait_outside() -> None:
    for ranks in range(2, 34):
        within = power(ranks)
        for rank in range(ranks):
            peers = [peer for kind, peer in steps("recursive_doubling", ranks, rank) if kind == "to"]
            if rank >= within:
                assert peers == [rank - within] * 2
                continue
            partners = [rank ^ 1 << bit for bit in range(log2(within))]
            assert peers == partners + ([rank + within] if rank + within < ranks else [])


def test_dissemination_reaches_twice_as_far_each_round() -> None:
    for ranks in range(2, 34):
        for rank in range(ranks):
            done = steps("dissemination", ranks, rank)
            assert [peer for kind, peer in done if kind == "to"] == [
                (rank + 2**k) % ranks for k in range(log2(ranks))
            ]
            assert [peer for kind, peer in done if kind == "from"] == [
                (rank - 2**k) % ranks for k in range(log2(ranks))
            ]


def test_tree_goes_up_and_comes_down() -> None:
    """Open MPI, barrier_intra_tree: bit by bit, ranks whose lower bits are 0 meet the one that differs in it."""
    for ranks in range(2, 34):
        jumps = [1 << bit for bit in range(log2(ranks))]
        for rank in range(ranks):
            met = [rank ^ jump for jump in jumps if rank % jump == 0 and rank ^ jump < ranks]
            up = [("from" if partner > rank else "to", partner) for partner in met]
            down = [("to" if partner > rank else "from", partner) for partner in reversed(met)]
            assert steps("tree", ranks, rank) == up + down


def test_a_barrier_has_no_root_and_no_data_to_cut() -> None:
    for algorithm in _core.algorithms():
        if algorithm.collective != "barrier":
            continue
        assert _core.refusal("barrier", algorithm.name, Problem(ranks=4, root=1)) == "barrier has no root"
        cut = f"{algorithm.name} does not cut its messages into segments"
        assert _core.refusal("barrier", algorithm.name, Problem(ranks=4, segment_B=8)) == cut
        assert steps(algorithm.name, 1, 0) == []
