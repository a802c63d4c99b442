"""The program `ring`, on every MPI: messages come back with the right values and tags, whatever the way."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.runner.sessions import LIMIT_S, UNTIL, session_of, simulation_of

from hockney.apps.ring.app import EXCHANGES
from hockney.errors import RequestError
from hockney.records.answers import Timed
from hockney.runner.session import Refused, Session

LAUNCHED = 8
COUNTS = (1, 2, 3, 4, 6, 8)
TOPOLOGIES = ("world", "cartesian", "cartesian-reorder")


def ask(session: Session, ranks: int, exchange: str = "sendrecv", **other: Any) -> dict[str, Any]:
    request: dict[str, Any] = {
        "operation": "ring",
        "ranks": ranks,
        "exchange": exchange,
        "topology": "world",
        "iterations": 2,
        "repetitions": 2,
        **UNTIL,
    }
    return session.app(LIMIT_S, Timed, **(request | other)).as_said()


session, simulation = session_of(LAUNCHED), simulation_of(LAUNCHED)


def check(session: Session, ranks: int, exchange: str, topology: str) -> None:
    answer = ask(session, ranks, exchange, topology=topology)
    assert answer["verified"] is True, (ranks, exchange, topology)
    assert sorted(answer["positions"]) == list(range(ranks))
    if topology != "cartesian-reorder":
        assert answer["positions"] == list(range(ranks))
    # 2P messages; each begins as its process's rank, and every other process adds or subtracts
    # its own.
    total = sum(range(ranks))
    assert answer["received"] == [2 * ranks] * ranks
    assert answer["left_values"] == [-total] * ranks
    assert answer["right_values"] == [total] * ranks
    tags = [10 * position for position in answer["positions"]]
    assert (answer["left_tags"], answer["right_tags"]) == (tags, tags)
    # Two timed repetitions of two cycles.
    assert (answer["iterations"], answer["cycles"], len(answer["samples_s"])) == (2, 4, 2)
    # Of the same cycles: a sample is the slowest rank's mean of two, never below any rank's mean of the four.
    # Records have six digits.
    assert len(answer["means_s"]) == len(answer["variances_s2"]) == ranks
    assert max(answer["means_s"]) <= sum(answer["samples_s"]) / 2 * (1 + 2e-5)
    assert min(answer["variances_s2"]) >= 0


@pytest.mark.one_mpi
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_messages_come_back(session: Session, exchange: str) -> None:
    for ranks, topology in itertools.product(COUNTS, TOPOLOGIES):
        check(session, ranks, exchange, topology)


@pytest.mark.simulated
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_messages_come_back_in_a_simulation(simulation: Session, exchange: str) -> None:
    for ranks, topology in itertools.product(COUNTS, TOPOLOGIES):
        check(simulation, ranks, exchange, topology)


@pytest.mark.simulated
def test_in_turns_takes_twice_as_long_in_a_simulation(simulation: Session) -> None:
    # Two messages at a time of 4 B, or one after the other: an exact clock, the same latency in each.
    turns, once = (ask(simulation, 4, way)["time_s"] for way in ("sendrecv", "nonblocking"))
    # Posting and the clock's readings (10 ns each) are what both have besides.
    assert turns / once == pytest.approx(2, rel=0.1)


@pytest.mark.simulated
def test_a_simulation_repeats_no_more_than_an_interval_needs(simulation: Session) -> None:
    # Nothing disturbs it: the least number of samples is enough, however long the budget.
    answer = ask(simulation, 4, iterations=0, repetitions=0, budget_s=10)
    assert len(answer["samples_s"]) == 6
    assert answer["high_s"] - answer["low_s"] < 0.02 * answer["time_s"]


def test_the_program_chooses_how_many_cycles(session: Session) -> None:
    answer = ask(session, 2, iterations=0, repetitions=3)
    assert answer["verified"] is True
    assert answer["iterations"] >= 1
    assert answer["cycles"] == 3 * answer["iterations"]


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"exchange": "smoke"}, "exchange must be"),
        ({"topology": "torus"}, "topology must be"),
        ({"iterations": -1}, "iterations must be"),
        ({"iterations": 10**9}, "iterations must be"),
        ({"iterations": "many"}, "not a whole number"),
        ({"repetitions": -1}, "repetitions must be"),
        ({"ranks": 0}, "ranks"),
        ({"ranks": LAUNCHED + 1}, "ranks"),
    ],
)
def test_a_wrong_request_is_refused_and_the_next_served(
    session: Session, wrong: dict[str, Any], what: str
) -> None:
    with pytest.raises((RequestError, Refused), match=what):
        ask(session, **({"ranks": 2} | wrong))
    assert ask(session, 2)["verified"] is True
