"""Roots that move on: each sample of a collective says whose it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.capabilities import needs_two_cpus
from tests.runner.sessions import bcast, start

from hockney.runner.mpi import Mpi


@needs_two_cpus
@pytest.mark.one_mpi
def test_samples_keep_their_root(mpi: Mpi) -> None:
    fixed, request = (bcast("binomial", 8, start="barrier", rotate=rotate) for rotate in (0, 1))
    with start(mpi) as session:
        of_one = session.collective(60.0, **fixed, budget_s=0.05, tolerance=0.01, least_samples=30)
        answer = session.collective(60.0, **request, budget_s=0.05, tolerance=0.01, least_samples=30)
        # An interval that no one reaches: the count ends it, within a block of repetitions, also on busy cores.
        limited = {"budget_s": 30.0, "tolerance": 1e-9, "least_samples": 10, "most_samples": 20}
        few = session.collective(60.0, **request, **limited)
    assert of_one.verified
    assert of_one.sample_roots == []
    assert answer.verified
    assert few.stop == "count"
    assert 20 <= len(few.samples_s) < 20 + 4
    # The two ranks take turns; only between blocks of repetitions is one not timed.
    assert len(answer.sample_roots) == len(answer.samples_s)
    assert set(answer.sample_roots) == {0, 1}
    turns = [one != after for one, after in pairwise(answer.sample_roots)]
    assert sum(turns) > 0.7 * len(turns)
