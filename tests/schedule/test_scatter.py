"""Scatters against the literature: rounds, messages and bytes in closed form, the tree as Open MPI builds it."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem, Schedule

BLOCK_B = 12


def scatter(algorithm: str, ranks: int, *, root: int = 0) -> Schedule:
    return _core.generate("scatter", algorithm, Problem(ranks=ranks, root=root, bytes=BLOCK_B))


def count(algorithm: str, ranks: int) -> Counts:
    return _core.count(scatter(algorithm, ranks, root=ranks // 2))


def subtree(v: int, ranks: int) -> int:
    """Ranks below v, counting itself, where each parent lacks its child's lowest bit."""
    size = 0
    for below in range(v, ranks):
        while below > v:
            below &= below - 1
        size += below == v
    return size


@pytest.mark.parametrize("algorithm", ["linear", "linear_nonblocking"])
def test_linear(algorithm: str) -> None:
    for ranks in range(2, 34):
        counts = count(algorithm, ranks)
        assert counts.rounds == counts.messages == ranks - 1
        assert counts.bytes == counts.critical_bytes == (ranks - 1) * BLOCK_B
        assert counts.max_degree == ranks - 1


def test_only_the_blocking_scatter_waits_between_messages() -> None:
    root = scatter("linear", 5, root=2)[2].steps
    sends = [i for i, step in enumerate(root) if step.kind == Kind.send]
    assert [root[i].peer for i in sends] == [0, 1, 3, 4]
    assert [root[i].after for i in sends] == [[], [sends[0]], [sends[1]], [sends[2]]]
    root = scatter("linear_nonblocking", 5, root=2)[2].steps
    assert [step.peer for step in root if step.kind == Kind.send] == [0, 1, 3, 4]
    assert all(step.after == [] for step in root if step.kind == Kind.send)


def test_binomial_sends_whole_subtrees_largest_first() -> None:
    """Open MPI, scatter_intra_binomial over its in-order binomial tree."""
    for ranks in range(2, 34):
        for root in (0, ranks - 1):
            schedule = scatter("binomial", ranks, root=root)
            for v in range(ranks):
                sends = [s for s in schedule[(v + root) % ranks].steps if s.kind == Kind.send]
                expected = [child for child in range(ranks - 1, v, -1) if child & (child - 1) == v]
                assert [s.peer for s in sends] == [(child + root) % ranks for child in expected]
                assert [s.source.length_B for s in sends] == [subtree(c, ranks) * BLOCK_B for c in expected]


@pytest.mark.parametrize("collective", ["scatter", "gather"])
def test_binomial_rounds_and_volume(collective: str) -> None:
    """A gather is a scatter backwards. ⌈log₂P⌉ α + (P − 1) / P · n β for n = P blocks (Chan et al., Collective
    communication: theory, practice, and experience, 2007)."""
    for ranks in range(2, 66):
        problem = Problem(ranks=ranks, root=ranks // 2, bytes=BLOCK_B)
        counts = _core.count(_core.generate(collective, "binomial", problem))
        assert counts.rounds == (ranks - 1).bit_length()
        assert counts.messages == ranks - 1
        if ranks & (ranks - 1) == 0:
            assert counts.critical_bytes == (ranks - 1) * BLOCK_B
            # Half of all blocks move on each level.
            assert counts.bytes == ranks // 2 * counts.rounds * BLOCK_B


def test_what_is_refused() -> None:
    for name in ("linear", "linear_nonblocking", "binomial"):
        segmented = Problem(ranks=4, bytes=BLOCK_B, segment_B=4)
        assert _core.refusal("scatter", name, segmented) == f"{name} does not cut its messages into segments"
        assert (
            _core.refusal("scatter", name, Problem(ranks=4, bytes=BLOCK_B, radix=2)) == f"{name} takes no radix"
        )
