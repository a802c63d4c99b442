"""Sessions of the runner for tests: on any MPI or a simulated cluster; what a campaign asks of an effect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hockney.campaign.effects.base import Here, Question, effects
from hockney.records.answers import Answer, RankPlace
from hockney.runner.build import runner_binary
from hockney.runner.find import find
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session

LIMIT_S = 300.0
PLATFORM = Path(__file__).parents[2] / "machines" / "platforms" / "fat_tree_256.xml"
UNTIL = {"least_samples": 6, "budget_s": 1, "tolerance": 0.01}
"""When repetitions end, where their number does not say it."""
FAR = Here(
    pairs=[("network", 0, 40)], localities={}, ranks=[RankPlace(rank=0)] * 64, budget_s=0.5, least_samples=6
)
"""Simulated ranks, far apart."""


def start(mpi: Mpi, ranks: int = 2, *before: str, **choices: Any) -> Session:
    """A session of so many ranks, which share cores where these are fewer; `before`: words before the program."""
    is_simulated = mpi.kind == "smpi"
    more = not is_simulated and len(os.sched_getaffinity(0)) < ranks
    usual = {"oversubscribe": more, "platform": PLATFORM if is_simulated else None}
    argv, environment = command(mpi, LaunchRequest(ranks, **{**usual, **choices}))
    return Session([*argv, *before, str(runner_binary(mpi))], environment, LIMIT_S)


def simulated(ranks: int = 2, **choices: Any) -> Session:
    """A session of simulated ranks."""
    return start(find("smpi"), ranks, **choices)


def session_of(ranks: int, **choices: Any) -> Any:
    """A fixture: a session that the tests of a module share."""

    @pytest.fixture(scope="module")
    def session(mpi: Mpi) -> Iterator[Session]:
        with start(mpi, ranks, **choices) as started:
            yield started

    return session


def simulation_of(ranks: int) -> Any:
    """The same of simulated ranks."""

    @pytest.fixture(scope="module")
    def simulation() -> Iterator[Session]:
        with simulated(ranks) as started:
            yield started

    return simulation


def ask_all(effect: str, here: Here, answered: Callable[[Question], Answer | None]) -> None:
    """Ask what a campaign asks of an effect; `answered` gives None where a question is left out."""
    asking, answer = effects.get(effect)(here), None
    while True:
        try:
            question = asking.send(answer)
        except StopIteration:
            return
        assert isinstance(question, Question)
        answer = answered(question)


def bcast(algorithm: str, size_B: int, **choices: Any) -> dict[str, Any]:
    """The request of a broadcast among two ranks, but for when it ends."""
    usual = {"operation": "bcast", "ranks": 2, "root": 0, "rotate": 0, "segment_B": 0, "radix": 0}
    return {**usual, "cache": "warm", "start": "window", "algorithm": algorithm, "bytes": size_B, **choices}
