"""`subsets` on every MPI: each subset has its data right, by the library's algorithms and by ours."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runner.sessions import LIMIT_S, session_of

from hockney.records.keys import COLLECTIVES
from hockney.runner.session import Limitation, Session

RANKS = 6
TIMING = {"repetitions": 3, "least_samples": 1, "budget_s": 1, "tolerance": 1}


session = session_of(RANKS, bind_to="none")


def measured(session: Session, members: list[int], ranks: int, **words: Any) -> dict[str, Any]:
    asked = {"of": "alltoall", "algorithm": "default", "ranks": ranks, "bytes": 64, "segment_B": 0, "radix": 0}
    question = {"arrangement": "blocks", "part": "together", **asked, **TIMING, **words}
    return session.effect(LIMIT_S, operation="subsets", members=members, **question).as_said()


@pytest.mark.parametrize("operation", sorted(COLLECTIVES))
def test_every_collective_is_right_on_all_subsets_at_once(session: Session, operation: str) -> None:
    size_B = 64 if COLLECTIVES[operation].has_size else 0
    for members, ranks in (([0, 1, 2, 3, 4, 5], 2), ([0, 2, 4, 1, 3, 5], 3), ([5, 2, 1, 3], 2), ([1, 4, 3], 3)):
        answer = measured(session, members, ranks, of=operation, bytes=size_B)
        assert answer["verified"] is True
        assert len(answer["subset_s"]) == len(members) // ranks
        assert len(answer["samples_s"]) + answer["preempted"] == 3
        assert 0 <= answer["late_kept"] <= len(answer["samples_s"])


def test_a_schedule_runs_on_subsets_and_the_mean_lies_below_the_slowest(session: Session) -> None:
    words = {"of": "bcast", "algorithm": "blocking_pipeline", "bytes": 70_000, "segment_B": 10_000}
    answer = measured(session, [0, 2, 4, 1, 3, 5], 3, **words)
    assert answer["verified"] is True
    pairs = zip(answer["samples_s"], answer["slowest_s"], strict=True)
    # Both are printed with six digits.
    assert all(0 < mean_s <= slowest_s * (1 + 1e-5) for mean_s, slowest_s in pairs)


def test_one_subset_alone_is_its_own_slowest(session: Session) -> None:
    answer = measured(session, [1, 3, 5], 3)
    assert answer["samples_s"] == pytest.approx(answer["slowest_s"], rel=1e-5)


def test_what_an_algorithm_does_not_do_is_a_limitation(session: Session) -> None:
    with pytest.raises(Limitation, match="even"):
        measured(session, list(range(RANKS)), 3, of="allgather", algorithm="neighbor_exchange")
    assert measured(session, list(range(RANKS)), 3)["verified"] is True
