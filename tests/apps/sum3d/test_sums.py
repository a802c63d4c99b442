"""Requests, statistics and shares of the three-dimensional sum."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import app_run

from hockney.apps.stencil.grid_test import run_statistics
from hockney.apps.stencil.grids import Grid
from hockney.apps.sum3d.app import Sum3dStudy
from hockney.apps.sum3d.sums import Sum3dProblem, summary
from hockney.errors import RequestError
from hockney.fields import checked
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.units import Extents


def test_equation_9_with_both_factors() -> None:
    made = run_statistics([1.0, 2.0, 3.0, 4.0])
    assert (made.runs, made.mean_s) == (4, 2.5)
    # S² = (2.25 + 0.25 + 0.25 + 2.25) / 3
    assert made.standard_deviation_s == pytest.approx((5 / 3) ** 0.5)
    half = (5 / 3) ** 0.5 / 2
    assert made.normal_low_s == pytest.approx(2.5 - 1.96 * half)
    assert made.normal_high_s == pytest.approx(2.5 + 1.96 * half)
    # Tables of Student's t: 3.182 for 3 degrees of freedom, to three decimals.
    assert made.student_low_s == pytest.approx(2.5 - 3.182 * half, abs=1e-3)
    assert made.student_high_s == pytest.approx(2.5 + 3.182 * half, abs=1e-3)


def test_one_run_has_no_interval() -> None:
    assert {*vars(run_statistics([0.5])).values()} == {1, 0.5, None}


PARTS: dict[str, Any] = {
    "scatter_s": [6.0, 2.0],
    "compute_s": [1.0, 2.0],
    "gather_s": [2.0, 4.0],
}


def record() -> AppRecord:
    answer = {
        **PARTS,
        "elements": [6, 6],
        "memory_bandwidth_B_per_s": [2e9, 3e9],
        "sum_bandwidth_B_per_s": [2e9, 1e9],
        "verified": True,
    }
    asked = {"cycles": 1, "nx": 12, "ny": 1, "nz": 1, "px": 2, "py": 1, "pz": 1, "split": "balanced"}
    return app_run("sum3d", 2, 10.0, samples_s=[10.0], parameters=asked, answer=answer)


PROBLEM = Sum3dProblem(Extents(12, 1, 1), Grid(2, 1, 1), "balanced")


def test_a_summary_says_loads_and_shares() -> None:
    made = summary(record())
    assert made.loads == ["P. 0-1: 6"]
    # Of 17 s of both ranks.
    assert made.shares == pytest.approx({"scatter": 8 / 17, "compute": 3 / 17, "gather": 6 / 17})


def test_shares_of_no_time_are_none_of_it() -> None:
    answer = {**record().answer.as_said(), **{name: [0.0, 0.0] for name in PARTS}}
    untimed = record().model_copy(update={"answer": Answer.model_validate(answer)})
    assert set(summary(untimed).shares.values()) == {0.0}


def test_the_grid_is_chosen_where_none_is_asked_for() -> None:
    made = Sum3dProblem.checked(Extents(5, 5, 1), 4, None, "blocks")
    assert made == Sum3dProblem(Extents(5, 5, 1), Grid(2, 2, 1), "blocks")
    wanted = made.parameters(Sum3dStudy(seed=7, cycles=3, repetitions=2))
    assert (wanted["nx"], wanted["ny"], wanted["nz"]) == (5, 5, 1)
    assert (wanted["px"], wanted["py"], wanted["pz"]) == (2, 2, 1)
    assert (wanted["seed"], wanted["cycles"], wanted["repetitions"]) == (7, 3, 2)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"cycles": 10**7}, "--iterations"),
        ({"seed": -1}, "--seed"),
        ({"seed": 2**63}, "--seed"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], what: str) -> None:
    with pytest.raises(RequestError, match=what):
        PROBLEM.parameters(checked(Sum3dStudy, wrong, "run sum3d"))
