"""Reductions that receive ahead: the next message is on its way while the last one is added."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Kind, Problem


@pytest.mark.parametrize(
    ("collective", "algorithm", "segment_B"),
    [
        ("reduce", "linear", 0),
        ("reduce", "chain", 8),
        ("reduce", "pipeline", 8),
        ("reduce", "binary", 8),
        ("reduce", "binomial", 8),
        ("allreduce", "ring", 0),
        ("allreduce", "segmented_ring", 2),
        ("reduce_scatter", "ring", 0),
        ("reduce_scatter", "pairwise", 0),
    ],
)
def test_the_next_receive_is_posted_before_what_has_arrived_is_added(
    collective: str, algorithm: str, segment_B: int
) -> None:
    # Steps start in the order listed and a reduction keeps the processor busy: a receive listed after it would
    # not be posted until it is done.
    problem = Problem(ranks=9, bytes=72, segment_B=segment_B)
    found = 0
    for mine in _core.generate(collective, algorithm, problem):
        kinds = [step.kind for step in mine.steps]
        adds = kinds.count(Kind.reduce)
        # The root of `linear` adds its own contribution too, for which nothing arrives.
        messages = min(adds, kinds.count(Kind.receive))
        added = 0
        for place, kind in enumerate(kinds):
            if kind == Kind.reduce:
                assert kinds[:place].count(Kind.receive) >= min(added + 2, messages)
                added += 1
        found += added
    # Each of 72 elements or of 9 blocks meets what eight other ranks have.
    assert found >= 8
