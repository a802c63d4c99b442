"""The program `pinning`, on every MPI: whom it sees where, under the pinning that the launcher was asked for."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.capabilities import needs_two_cpus
from tests.runner.sessions import LIMIT_S, UNTIL, start

from hockney.errors import RequestError
from hockney.records.answers import Timed
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session

CPUS = sorted(os.sched_getaffinity(0))


def _ask(session: Session, ranks: int, **choices: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"operation": "pinning", "ranks": ranks, "work_s": 0.002, "samples": 4}
    request |= {"repetitions": 3, **UNTIL}
    return session.app(LIMIT_S, Timed, **(request | choices)).as_said()


def test_ranks_that_share_processors(mpi: Mpi) -> None:
    """More ranks than processors, any number of them; nonsense is refused and the conversation goes on."""
    with start(mpi, 8, oversubscribe=True, threads=1) as session:
        for ranks in (1, 2, 3, 4, 6, 8):
            answer = _ask(session, ranks)
            assert [one["rank"] for one in answer["ranks"]] == [*range(ranks)]
            assert len(answer["samples_s"]) == 3
            for rank in answer["ranks"]:
                (thread,) = rank["threads"]
                assert sum(thread["looks"]) == 3 * 4, "repetitions times samples"
                assert set(thread["cpus"]) <= set(thread["allowed"]) <= set(rank["launched"]) == set(CPUS)
                assert rank["environment"]["OMP_NUM_THREADS"] == "1"
                # Three repetitions of 2 ms each, and a clock tick at most beyond.
                assert 0.006 <= thread["processor_s"] <= 0.02
            (host,) = {one["host"]: one for one in answer["hosts"]}.values()
            assert {one["cpu"] for one in host["cpus"]} >= set(CPUS)
        for wrong in ({"work_s": 0}, {"samples": 0}, {"work_s": "x"}, {"repetitions": -1}):
            with pytest.raises(RequestError):
                _ask(session, 2, **wrong)
        assert _ask(session, 2)["openmp"] in (True, False)


@needs_two_cpus
def test_threads_have_places_of_their_own(mpi: Mpi) -> None:
    with start(mpi, 1, threads=2) as session:
        answer = _ask(session, 1)
    (rank,) = answer["ranks"]
    assert answer["openmp"]
    assert len(rank["launched"]) >= 2, "before OpenMP bound the first thread"
    first, second = (set(one["allowed"]) for one in rank["threads"])
    assert not first & second
    assert [one["migrations"] for one in rank["threads"]] == [0, 0] or len(first) > 1
