"""Roots that move on: each sample of a collective says whose it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.capabilities import needs_two_cpus

from hockney.runner.build import runner_binary
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session


@needs_two_cpus
@pytest.mark.one_mpi
@pytest.mark.parametrize("rotate", [0, 1])
def test_samples_keep_their_root(mpi: Mpi, rotate: int) -> None:
    argv, environment = command(mpi, LaunchRequest(ranks=2, bind_to="core"))
    request: dict[str, object] = {"operation": "bcast", "algorithm": "binomial", "ranks": 2, "root": 0}
    request |= {"bytes": 8, "segment_B": 0, "radix": 0, "cache": "warm", "start": "barrier", "rotate": rotate}
    words = [*argv, str(runner_binary(mpi))]
    with Session(words, {**mpi.environment, **environment}, 120.0) as session:
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
