"""How many iterations conjugate gradients need, and how long a solution is: from runs of several sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import answer, outcome
from tests.factories import VERSION_1 as MACHINE
from tests.factories import holds

from hockney.apps.cg.iterations import laws
from hockney.apps.cg.section import section as cg
from hockney.apps.stencil.solution import equal_side, fit_iterations
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.report.app_sections import Runs

SIZES = {100: 183, 200: 374, 400: 769}
"""Unknowns along a side of a plane, and the iterations to 1e-6 that were measured."""


def solved(side: int, iterations: int, ranks: int = 1, cell_s: float = 2e-9, **answer: Any) -> AppRecord:
    """A plane of side² unknowns on 1xranks, `cell_s` each and nothing for messages."""
    compute_s = iterations * side * side * cell_s / ranks
    told = {
        "iterations": iterations, "converged": True, "iteration_s": compute_s / iterations,
        "residual_norms": [1.0, 1e-7], "unknowns": side * side, "bytes_per_unknown": 80.0,
        "counted_bytes_per_unknown": 80.0, "halo_B": [0.0] * ranks, "compute_s": [compute_s] * ranks,
        "halo_s": [0.0] * ranks, "allreduce_s": [0.0] * ranks, "verified": True,
    } | answer  # fmt: skip
    asked = {
        "nx": side, "ny": side, "nz": 1, "px": 1, "py": ranks, "pz": 1, "halo": "nonblocking", "faces": "packed",
        "variant": "single_sweep", "iterations": 10000, "eps": 1e-6, "compute": 1, "dimensions": 2,
    }  # fmt: skip
    fields = {
        "operation": "cg", "ranks": ranks, "parameters": asked, "time_s": compute_s, "low_s": 0.99 * compute_s,
        "high_s": 1.01 * compute_s, "answer": told, "nodes": 1,
    }  # fmt: skip
    return AppRecord.model_validate(fields)


def test_a_power_of_the_side_comes_back() -> None:
    sides = [50.0, 100, 200, 400]
    law = fit_iterations(sides, [2.5 * side**1.03 for side in sides])
    assert (law.coefficient.value, law.exponent.value) == pytest.approx((2.5, 1.03))
    assert law.at(800).value == pytest.approx(2.5 * 800**1.03)
    with pytest.raises(RequestError, match="one size"):
        fit_iterations([100, 100], [5, 6])
    two = fit_iterations([100, 200], [10, 20])
    assert two.exponent.low is None
    assert two.at(400).low is None


def test_intervals_of_the_law_hold_what_follows() -> None:
    noise, inside, draws = np.random.default_rng(1), [], 200
    sides = [50.0, 100, 200, 400, 800]
    for _ in range(draws):
        law = fit_iterations(sides, [2 * side * float(np.exp(noise.normal(0, 0.01))) for side in sides])
        following = law.at(1600)
        inside.append(holds(following, 3200 * float(np.exp(noise.normal(0, 0.01)))))
    # 95 % to three standard deviations of 200 draws.
    assert sum(inside) / draws >= 0.904


def test_boxes_count_by_their_condition() -> None:
    assert equal_side((100, 100)) == pytest.approx(100)
    # A long strip is as hard as a square of √2 times its short side: the long side adds next to nothing.
    assert equal_side((100_000, 100)) == pytest.approx(101 * 2**0.5 - 1, rel=1e-4)


def test_predicting_a_solution_from_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Campaign.create(tmp_path / "runs", {})
    for side, iterations in SIZES.items():
        folder.append(solved(side, iterations))
    words = ("predict", "cg", "--size", "800x800", "--ranks", "1,2", "--table", "runs", "--machine", str(MACHINE))
    made = answer(*words)
    law = laws(folder.apps())[2, 1e-6]
    count = made["solution"]["iterations"]
    # Twice the largest size, where twice the iterations and a little more are needed: 2 · 769 · 2^0.035.
    assert count["value"] == pytest.approx(law.at(800).value)
    assert 2 * 769 < count["value"] < 2.1 * 769
    assert count["low"] < count["value"] < count["high"]
    one, two = made["predictions"]
    assert one["solution_s"]["value"] == pytest.approx(count["value"] * one["time_s"])
    assert one["time_s"] == pytest.approx(800 * 800 * 2e-9, rel=0.01)
    assert two["speedup"] == pytest.approx(one["time_s"] / two["grids"][0]["time_s"])
    text = outcome(*words)[1]
    assert "a solution to 1e-06:" in text


def test_smaller_boxes_in_a_cache_make_it_super_linear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Campaign.create(tmp_path / "runs", {})
    for side, cell_s in ((200, 1e-9), (283, 1e-9), (400, 3e-9), (800, 3e-9)):
        folder.append(solved(side, 100, cell_s=cell_s))
    made = json.loads(
        outcome(
            *("predict", "cg", "--size", "400x400", "--ranks", "1,2,4", "--table", "runs", "--json"),
            *("--machine", str(MACHINE)),
        )[1]
    )
    compute_s = [one["compute_s"] for one in made["predictions"]]
    # Four boxes of 200² unknowns take a third for each: twelve times as fast as one of 400².
    assert compute_s[0] / compute_s[2] == pytest.approx(12, rel=0.01)


def test_the_report_has_solutions_and_what_they_say() -> None:
    written = {"file_B": 8e6, "file_write_s": 0.01}
    runs = [solved(side, iterations) for side, iterations in SIZES.items()]
    runs += [solved(400, 769, ranks=2, cell_s=1e-9, **written)]
    made = cg(Runs(runs))
    page = made.sections[0]
    assert [drawing.name for drawing in page.figures][-2:] == ["app-cg-sizes", "app-cg-strong"]
    solutions = next(table for table in page.tables if table.caption == "Solutions")
    row = dict(zip(solutions.columns, solutions.rows[-1], strict=True))
    # Half the work, each unknown twice as fast: 4 times, where 2 is ideal. Residuum: (1e-7)².
    assert (row["iterations"], row["residuum"], row["speed-up"], row["efficiency"]) == ("769", "1e-14", "4", "2")
    assert row["rate of writing"] == "800 MB/s"
    said = " ".join(finding.text for finding in made.findings)
    assert "iterations grow as n to the power 1.04" in said  # ln(769/183)/ln(4) = 1.036
    assert "200 % (95 %:" in said
    assert "more than ideal" in said
