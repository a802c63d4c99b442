"""The section on conjugate gradients: iterations of whole solutions."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import app_run

from hockney.apps.cg.section import reported
from hockney.apps.cg.section import section as cg
from hockney.apps.stencil.runs import simulated_s
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Runs

LATENCY_S = 2e-6
"""Of the machine of the tests; halos and sums here are so small that their bytes do not count."""


def _run(ranks: int, grid: tuple[int, int, int], **answer: Any) -> AppRecord:
    """1000 iterations on 16² unknowns in 20 ms, of which each rank computes 8 ms."""
    asked = {
        "nx": 16, "ny": 16, "nz": 1, "px": grid[0], "py": grid[1], "pz": grid[2], "halo": "nonblocking",
        "faces": "packed", "variant": "single_sweep", "iterations": 1000, "eps": 0.0, "compute": 1,
    }  # fmt: skip
    told = {
        "iterations": 1000, "iteration_s": 2e-5, "compute_s": [8e-3] * ranks, "halo_s": [4e-3] * ranks,
        "allreduce_s": [8e-3] * ranks, "halo_B": [128] * ranks, "converged": False,
        # With the first residual, 48 B beside 80 B in each of 1000 iterations.
        "unknowns": 256, "bytes_per_unknown": 80.0, "counted_bytes_per_unknown": 80.048,
    } | answer  # fmt: skip
    return app_run("cg", ranks, 20e-3, parameters=asked, answer=told)


def test_times_and_shares_are_those_of_an_iteration() -> None:
    shown = reported(_run(2, (1, 2, 1), fractions_of_bound=[0.2, 0.5, 0.3]))
    assert shown.time_s == pytest.approx(20e-6)
    assert shown.rate == pytest.approx(50_000)
    assert shown.communication == pytest.approx(12 / 20)
    assert shown.bound_share == 0.3
    assert shown.way == "single_sweep, nonblocking, packed"


def test_an_iteration_waits_for_halos_and_two_sums(basis: Basis) -> None:
    made, _ = simulated_s(_run(2, (1, 2, 1)), basis)
    assert made is not None
    # 8 µs of computation (the first residual is within the 8 ms); one exchange and two sums, one message each,
    # of which overheads overlap by at most the 35 % of a latency that either processor is busy.
    assert 3 * 0.65 * LATENCY_S < made - 8e-6 < 3 * 1.7 * LATENCY_S


def test_grids_of_the_same_ranks_have_a_figure() -> None:
    grids = [(4, 1, 1), (2, 2, 1), (1, 4, 1)]
    made = cg(Runs([_run(4, grid) for grid in grids]))
    (drawing,) = made.sections[0].figures
    labels = [text.get_text() for text in drawing.figure.axes[0].get_yticklabels()]
    assert sorted(labels) == ["1x4x1", "2x2x1", "4x1x1"]
    assert "no machine file" in made.sections[0].note


def test_the_bound_is_explained_where_a_run_has_one() -> None:
    for fractions, is_explained in (([0.2, 0.5], True), ([], False)):
        made = cg(Runs([_run(2, (1, 2, 1), fractions_of_bound=fractions)]))
        assert ("The bound: memory bandwidth" in made.sections[0].note) is is_explained
