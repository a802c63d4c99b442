"""`injection` and `congestion` on every MPI: payloads arrive, the slowest pair counts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runner.sessions import LIMIT_S, session_of

from hockney.runner.session import Session

RANKS = 4
TIMING = {"repetitions": 2, "least_samples": 1, "budget_s": 1, "tolerance": 1}


session = session_of(RANKS, bind_to="none")


def stream(session: Session, effect: str, members: tuple[int, ...], **words: Any) -> dict[str, Any]:
    asked = {"bytes": 4096, "window": 4, "sample_s": 0, **TIMING, **words}
    return session.effect(LIMIT_S, operation=effect, members=members, **asked).as_said()


def test_injection_streams_between_neighbours_among_the_members(session: Session) -> None:
    for members in ((0, 1), (3, 0), (1, 2), (0, 2, 3, 1)):
        for size_B in (0, 1, 70000):
            answer = stream(session, "injection", members, bytes=size_B)
            assert answer["verified"] is True
            assert len(answer["pair_s"]) == len(members) // 2
            assert len(answer["samples_s"]) + answer["preempted"] == 2


def test_congestion_streams_between_the_pairs_it_is_given(session: Session) -> None:
    for pairs, count in (("0,1", 1), ("3,1", 1), ("2,0,1,3", 2), ("1,0,3,2", 2)):
        answer = stream(session, "congestion", (0, 1, 2, 3), pairs=pairs)
        assert answer["verified"] is True
        assert len(answer["pair_s"]) == count


def test_the_time_is_that_of_the_slowest_pair(session: Session) -> None:
    answer = stream(session, "congestion", (0, 1, 2, 3), pairs="0,1,2,3", repetitions=1)
    # Both are printed with six digits.
    assert max(answer["pair_s"]) == pytest.approx(answer["time_s"], rel=1e-5)


def test_windows_are_repeated_until_a_sample_is_long_enough(session: Session) -> None:
    once = stream(session, "injection", (0, 1), bytes=8)
    again = stream(session, "injection", (0, 1), bytes=8, sample_s=0.02)
    assert once["windows"] == 1
    # A window that takes 20 ms by itself would be a machine that stands still.
    assert again["windows"] > 1
