"""Roots that move on: each sample of a collective says whose it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.capabilities import needs_two_cpus
from tests.runner.sessions import bcast, start

from hockney.runner.mpi import Mpi


@needs_two_cpus
@pytest.mark.one_mpi
@pytest.mark.parametrize("rotate", [0, 1])
def test_samples_keep_their_root(mpi: Mpi, rotate: int) -> None:
    request = bcast("binomial", 8, start="barrier", rotate=rotate)
    with start(mpi) as session:
        answer = session.collective(60.0, **request, budget_s=0.05, tolerance=0.01, least_samples=30)
        # An interval that no one reaches: the count ends it, within a block of repetitions, also on busy cores.
        limited = {"budget_s": 30.0, "tolerance": 1e-9, "least_samples": 30, "most_samples": 64}
        few = session.collective(60.0, **request, **limited)
    assert answer.verified
    assert few.stop == "count"
    assert 64 <= len(few.samples_s) < 64 + 4
    if not rotate:
        assert answer.sample_roots == []
        return
    # The two ranks take turns; only between blocks of repetitions is one not timed.
    assert len(answer.sample_roots) == len(answer.samples_s)
    assert set(answer.sample_roots) == {0, 1}
    turns = [one != after for one, after in pairwise(answer.sample_roots)]
    assert sum(turns) > 0.7 * len(turns)
