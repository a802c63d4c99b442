"""Gathers against the literature: rounds, messages and bytes in closed form, the protocol as Open MPI has it."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem, Schedule

BLOCK_B = 12


def gather(algorithm: str, ranks: int, *, root: int = 0, segment_B: int = 0) -> Schedule:
    problem = Problem(ranks=ranks, root=root, bytes=BLOCK_B, segment_B=segment_B)
    return _core.generate("gather", algorithm, problem)


def count(algorithm: str, ranks: int, *, segment_B: int = 0) -> Counts:
    return _core.count(gather(algorithm, ranks, root=ranks // 2, segment_B=segment_B))


def test_linear() -> None:
    for ranks in range(2, 34):
        counts = count("linear", ranks)
        assert counts.rounds == counts.messages == ranks - 1
        assert counts.bytes == counts.critical_bytes == (ranks - 1) * BLOCK_B
    # Nobody waits for anybody.
    assert all(step.after == [] for mine in gather("linear", 5, root=2) for step in mine.steps)


@pytest.mark.parametrize(("segment_B", "first_B"), [(0, BLOCK_B), (4, 4), (BLOCK_B, BLOCK_B), (100, BLOCK_B)])
def test_linear_sync_asks_one_rank_after_another(segment_B: int, first_B: int) -> None:
    """Open MPI, gather_intra_linear_sync: an empty message to each rank, which answers with a first segment and
    the rest; the next rank is asked once the first segment is there."""
    rest_B = BLOCK_B - first_B
    for ranks in range(2, 18):
        schedule = gather("linear_sync", ranks, root=ranks // 2, segment_B=segment_B)
        counts = _core.count(schedule)
        parts = 2 if rest_B else 1
        # An empty rest is left out (Open MPI sends it).
        assert counts.messages == (1 + parts) * (ranks - 1)
        assert counts.bytes == (ranks - 1) * BLOCK_B
        # Question and first segment in turn; only the last rank's rest comes by itself.
        assert counts.rounds == 2 * (ranks - 1) + parts - 1
        for rank in range(ranks):
            sends = [s.source.length_B for s in schedule[rank].steps if s.kind == Kind.send]
            lengths = [0] * (ranks - 1) if rank == ranks // 2 else [first_B, rest_B][:parts]
            assert sends == lengths
        order = sorted(_core.moves(schedule), key=lambda move: move.round)
        asked = [move.receiver for move in order if move.sender == ranks // 2]
        assert asked == [rank for rank in range(ranks) if rank != ranks // 2]


def test_binomial_collects_whole_subtrees_smallest_first() -> None:
    """Open MPI, gather_intra_binomial over its in-order binomial tree: the lowest bit of a rank leads upward."""
    for ranks in range(2, 34):
        for root in (0, ranks - 1):
            schedule = gather("binomial", ranks, root=root)
            for v in range(ranks):
                receives = [s for s in schedule[(v + root) % ranks].steps if s.kind == Kind.receive]
                expected = [child for child in range(v + 1, ranks) if child & (child - 1) == v]
                assert [s.peer for s in receives] == [(child + root) % ranks for child in expected]
                # A subtree is the ranks up to the next multiple of the lowest bit.
                sizes = [min(child & -child, ranks - child) for child in expected]
                assert [s.target.length_B for s in receives] == [size * BLOCK_B for size in sizes]


def test_what_is_refused() -> None:
    for name, cuts in (("linear", False), ("linear_sync", True), ("binomial", False)):
        refusal = _core.refusal("gather", name, Problem(ranks=4, bytes=BLOCK_B, segment_B=4))
        assert refusal == ("" if cuts else f"{name} does not cut its messages into segments")
        assert _core.refusal("gather", name, Problem(ranks=4, bytes=BLOCK_B, radix=2)) == f"{name} takes no radix"
