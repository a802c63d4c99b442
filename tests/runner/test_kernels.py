"""Every kernel of the runner on every MPI found: it runs, its payload arrives, its time is of the right kind.

Correctness only: no assertion here depends on how fast the machine is.
"""

from __future__ import annotations

import os
import signal
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.factories import not_none
from tests.runner.sessions import LIMIT_S, session_of, start

from hockney.errors import RequestError
from hockney.records.keys import POINT_TO_POINT
from hockney.runner.mpi import Mpi
from hockney.runner.session import LaunchFailed, Refused, Session, operations

KERNELS = sorted(path.stem for path in (Path(__file__).parents[2] / "cpp" / "runner" / "kernels").glob("*.cpp"))


def ask(
    session: Session, operation: str, size_B: int, limit_s: float = LIMIT_S, **choices: Any
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "operation": operation,
        "leader": 0,
        "follower": 1,
        "bytes": size_B,
        "window": 4,
        "cache": "warm",
        "budget_s": 0.02,
        "tolerance": 0.01,
        "least_samples": 6,
    }
    return session.measure(limit_s, **(request | choices)).model_dump()


def test_every_kernel_has_its_place_in_the_order_of_a_campaign() -> None:
    # `Offer` takes POINT_TO_POINT in its order: a kernel that is not in it would never be measured unasked.
    assert sorted(POINT_TO_POINT) == KERNELS


session = session_of(2)


def test_hello_describes_the_launch(session: Session, mpi: Mpi) -> None:
    hello = session.hello
    names = sorted(kernel.name for kernel in hello.operations)
    assert names == KERNELS, "a kernel registers itself under its file's name"
    assert [place.rank for place in hello.ranks] == [0, 1]
    assert all(place.affinity for place in hello.ranks)
    assert mpi.version in hello.library
    assert 0 < hello.clock_granularity_s < 1e-3


# Buffers outside the caches fill twice the last one, which takes seconds where that is large: each kernel walks
# through them once, and one of them through those beyond a page. Where they lie is no business of the library.
@pytest.mark.parametrize(
    ("operation", "size_B", "cache"),
    [
        *product(KERNELS, (0, 1, 100_000), ["warm"]),
        *(
            pytest.param(name, size_B, "off", marks=pytest.mark.one_mpi)
            for name, size_B in (("pingpong", 100_000), *product(KERNELS, [1000]))
        ),
    ],
)
def test_every_kernel_delivers(session: Session, operation: str, size_B: int, cache: str) -> None:
    largest = operations(session.hello, [operation])[operation].largest_B
    if largest and size_B > largest:
        size_B = largest
    answer = ask(session, operation, size_B, cache=cache)
    assert answer["verified"] is True
    assert answer["stop"] in ("interval", "budget", "count")
    assert answer["low_s"] <= answer["median_s"] <= answer["high_s"]
    assert len(answer["samples_s"]) >= 6
    assert answer["batch"] >= 1
    assert min(answer["samples_s"]) <= answer["median_s"] <= max(answer["samples_s"])
    # Overheads are differences of two times of the same work, which noise may turn round.
    assert operation.endswith("overhead") or min(answer["samples_s"]) > 0


def test_the_other_rank_can_lead(session: Session) -> None:
    assert ask(session, "pingpong", 64, leader=1, follower=0)["verified"] is True


def test_more_ranks_than_two_and_pairs_without_rank_zero(mpi: Mpi) -> None:
    with start(mpi, ranks=4) as session:
        assert ask(session, "pingpong", 8, leader=2, follower=3)["verified"] is True
        assert ask(session, "bandwidth", 8, leader=1, follower=0)["verified"] is True
        assert ask(session, "pingpong", 8, leader=0, follower=3)["verified"] is True


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"operation": "nothing"}, "unknown operation"),
        ({"follower": 0}, "leader and follower"),
        ({"follower": 7}, "follower must be from 0 to"),
        ({"size_B": -1}, "bytes must be at least 0"),
        ({"size_B": "many"}, "not a whole number"),
        ({"window": 0}, "window"),
        ({"cache": "cold"}, "cache"),
        ({"budget_s": 0}, "positive"),
    ],
)
def test_a_wrong_request_is_refused_and_the_next_served(
    session: Session, wrong: dict[str, Any], word: str
) -> None:
    with pytest.raises(RequestError, match=word):
        ask(session, **{"operation": "pingpong", "size_B": 8, **wrong})
    assert ask(session, "pingpong", 8)["verified"] is True


def test_a_size_beyond_memory_is_refused_and_the_next_served(session: Session) -> None:
    with pytest.raises(Refused, match="memory is free"):
        ask(session, "pingpong", 2**45)
    assert ask(session, "pingpong", 8)["verified"] is True


def test_a_killed_rank_ends_the_launch_with_a_message(mpi: Mpi) -> None:
    session = start(mpi)
    pid = not_none(session.hello.ranks[1].pid)
    os.kill(pid, signal.SIGKILL)

    def go_on() -> None:
        # The first answer may already be on its way when the rank is missed.
        for _ in range(3):
            ask(session, "pingpong", 8, 20.0)

    with session, pytest.raises(LaunchFailed):
        go_on()
