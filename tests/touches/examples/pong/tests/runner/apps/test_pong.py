"""The program `pong`, on every MPI: messages arrive as they were sent, and only two ranks play."""

from __future__ import annotations

import os

import pytest

from hockney.apps.pong.app import PongAnswer
from hockney.errors import RequestError
from hockney.runner.build import runner_binary
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session

LIMIT_S = 120.0
TIMED = {"repetitions": 8, "least_samples": 6, "budget_s": 1, "tolerance": 0.01}


def test_messages_arrive_as_they_were_sent(mpi: Mpi) -> None:
    more = len(os.sched_getaffinity(0)) < 3
    argv, environment = command(mpi, LaunchRequest(ranks=3, oversubscribe=more))
    with Session([*argv, str(runner_binary(mpi))], {**mpi.environment, **environment}, LIMIT_S) as session:
        for size_B in (0, 1, 4096, 2**21):
            answer = session.app(LIMIT_S, PongAnswer, operation="pong", ranks=2, bytes=size_B, **TIMED)
            assert (answer.verified, answer.wrong_messages) == (True, 0)
        with pytest.raises(RequestError, match="pong has 2 ranks, not 3"):
            session.app(LIMIT_S, PongAnswer, operation="pong", ranks=3, bytes=8, **TIMED)
