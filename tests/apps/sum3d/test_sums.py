"""Requests, statistics and shares of the three-dimensional sum."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import app_run, not_none

from hockney.apps.stencil.grid_test import run_statistics
from hockney.apps.stencil.grids import Grid
from hockney.apps.sum3d.app import Sum3dStudy
from hockney.apps.sum3d.model import predict_sum3d
from hockney.apps.sum3d.sums import Sum3dProblem, predicted_cycle, shares, summary
from hockney.errors import RequestError
from hockney.fields import checked
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
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
    "pack_s": [1.0, 0.0],
}


def test_shares_of_each_rank_add_up() -> None:
    made = shares(PARTS)
    assert made.slowest == 0
    assert made.by_rank[0] == {"scatter": 0.6, "compute": 0.1, "gather": 0.2, "pack": 0.1}
    assert made.by_rank[1] == {"scatter": 0.25, "compute": 0.25, "gather": 0.5, "pack": 0.0}


def test_shares_of_no_time_are_none_of_it() -> None:
    made = shares({name: [0.0] for name in PARTS})
    assert set(made.by_rank[0].values()) == {0.0}


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


PROBLEM = Sum3dProblem(Extents(12, 1, 1), Grid(2, 1, 1), "balanced", packed=False)


def test_a_summary_without_a_machine_predicts_nothing() -> None:
    made = summary(record())
    assert made.predicted is None
    assert made.loads == ["P. 0-1: 6"]


COSTS = MachineCosts({0: Messages.assumed(1e-6 + SIZES_B / 1e10, {})}, "a test")


def test_predictions_stand_beside_what_was_measured() -> None:
    made = predicted_cycle(record(), COSTS)
    # Rank 0 waits in its gather for the slowest sum, 1 s longer than its own: 24 B for each of 6 sums.
    assert made.parts["compute_s"].predicted_s == pytest.approx(6 * 24 / 1e9)
    assert [made.parts[name].measured_s for name in (*PARTS, "time_s")] == [6.0, 2.0, 1.0, 1.0, 10.0]
    expected = predict_sum3d(PROBLEM.size, PROBLEM.grid, PROBLEM.split, COSTS, 2e9, sum_bandwidth_B_per_s=1e9)
    assert made.parts["time_s"].predicted_s == expected.time_s
    assert made.parts["time_s"].error == pytest.approx(expected.time_s / 10 - 1)


def test_the_grid_is_chosen_where_none_is_asked_for() -> None:
    made = Sum3dProblem.checked(Extents(5, 5, 1), 4, None, "blocks", packed=True)
    assert made == Sum3dProblem(Extents(5, 5, 1), Grid(2, 2, 1), "blocks", packed=True)
    wanted = made.parameters(Sum3dStudy(seed=7, cycles=3, repetitions=2))
    assert (wanted["nx"], wanted["ny"], wanted["nz"]) == (5, 5, 1)
    assert (wanted["px"], wanted["py"], wanted["pz"]) == (2, 2, 1)
    assert (wanted["packed"], wanted["seed"], wanted["cycles"], wanted["repetitions"]) == (1, 7, 3, 2)


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


@pytest.mark.parametrize(
    ("bounds", "inside", "agree"),
    [((9.0, 11.0), True, True), ((10.6, 11.0), False, True), ((12.0, 13.0), False, False)],
)
def test_parts_that_were_timed_apart_stand_beside_the_cycle(
    bounds: tuple[float, float], *, inside: bool, agree: bool
) -> None:
    one = record()
    answer = {**one.answer.as_said(), "apart_time_s": 10.5, "apart_low_s": 10.2, "apart_high_s": 10.8}
    low_s, high_s = bounds
    timed = one.model_copy(update={"answer": Answer.model_validate(answer), "low_s": low_s, "high_s": high_s})
    made = not_none(summary(timed).apart)
    # The cycle of the record takes 10 s.
    assert made.error == pytest.approx(0.05)
    assert (made.inside, made.agree) == (inside, agree)
    assert summary(one).apart is None
