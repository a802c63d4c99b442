"""Procedures: what is simulated around a call, and from which exit a rank counts its time."""

from __future__ import annotations

import pytest

from hockney._core import Problem
from hockney.predict.procedures import Phase, procedures

CALL: list[Phase] = [
    ("reduce", "binomial", Problem(ranks=4, bytes=8)),
    ("bcast", "binomial", Problem(ranks=4, bytes=8)),
]
BARRIER: list[Phase] = [("barrier", "bruck", Problem(ranks=4))]


def words(phases: list[Phase]) -> list[str]:
    return [collective for collective, *_ in phases]


@pytest.mark.parametrize("name", ["osu", "pico"])
def test_a_call_a_barrier_and_the_next_call(name: str) -> None:
    run = procedures.get(name).run(CALL, BARRIER)
    assert words(run.phases) == ["reduce", "bcast", "barrier", "reduce", "bcast"]
    assert (run.start, run.end) == (2, 4)


@pytest.mark.parametrize("name", ["osu", "pico"])
def test_without_a_known_barrier_all_begin_together(name: str) -> None:
    run = procedures.get(name).run(CALL, [])
    assert (words(run.phases), run.start, run.end) == (["reduce", "bcast"], None, 1)


def test_hockney_begins_in_a_window_of_the_clock() -> None:
    run = procedures.get("hockney").run(CALL, BARRIER)
    assert (words(run.phases), run.start, run.end) == (["reduce", "bcast"], None, 1)


def test_imb_counts_from_exit_to_exit() -> None:
    run = procedures.get("imb").run(CALL, BARRIER)
    assert words(run.phases) == ["reduce", "bcast"] * 3
    assert (run.start, run.end) == (3, 5)


@pytest.mark.parametrize(("name", "element_B"), [("osu", 1), ("imb", 4), ("pico", 4), ("hockney", 4)])
def test_elements_of_reductions(name: str, element_B: int) -> None:
    # MPI_CHAR in OSU 7; MPI_FLOAT in IMB; int32 in PICO; ours are of 4 bytes.
    assert procedures.get(name).element_B == element_B
