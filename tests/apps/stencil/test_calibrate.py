"""Calibration on runs finds what was planted, and choices say what can be told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.factories import not_none

from hockney.apps.stencil.calibrate import LEAST_RUNS, StencilRun, calibrate
from hockney.apps.stencil.choice import (
    not_told_apart,
    predict_step,
    rank_grids,
)
from hockney.apps.stencil.grids import Grid, factorisations
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.stencil.steps import StencilStep, iteration
from hockney.apps.stencil.surroundings import Surroundings, Tuned
from hockney.errors import RequestError
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import LOCALITIES, Place

TREE_B_PER_S = 10e9


def costs() -> MachineCosts:
    message = Messages(5e-6 + SIZES_B / TREE_B_PER_S, 5e-7, 5e-7, 5e-7 + SIZES_B / TREE_B_PER_S)
    return MachineCosts({len(LOCALITIES) - 1: message}, "made up", copy_s_per_B=0.0)


def tree(ranks: int) -> Place:
    """Nodes of one rank, eight below a switch with two uplinks."""
    nobody = -1 - np.arange(ranks, dtype=np.int32)
    return Place(np.stack([nobody] * 4), tuple(range(ranks)), 1, below=(8,), uplinks=(2,))


def step(grid: Grid, cells: int = 128) -> StencilStep:
    return StencilStep(Stencil((cells, cells, cells), grid), 1e-9)


def test_links_that_were_planted_are_found_from_few_ranks() -> None:
    truth = Surroundings(costs(), tree, Tuned(latency=1.2, network_s_per_B=1.5e-10, hop_s=1e-6))
    few = [
        Grid(8, 1, 1),
        Grid(2, 2, 2),
        Grid(16, 1, 1),
        Grid(4, 4, 1),
        Grid(4, 4, 2),
        Grid(1, 4, 8),
        Grid(2, 16, 1),
    ]
    runs = [StencilRun(step(grid), 10, iteration(step(grid), truth).mean_s(10)) for grid in few]
    made = calibrate(runs, Surroundings(costs(), tree))
    for grid in (Grid(8, 8, 4), Grid(16, 16, 1), Grid(4, 8, 8)):
        true_s = iteration(step(grid), truth).mean_s(10)
        plain_s = iteration(step(grid), Surroundings(costs(), tree)).mean_s(10)
        found_s = iteration(step(grid), made).mean_s(10)
        # The bound that the project sets for eight times the ranks; uncalibrated it is missed by far.
        assert found_s == pytest.approx(true_s, rel=0.05)
        assert abs(plain_s / true_s - 1) > 0.05
    assert not_none(made.relative_error) < 0.05
    assert made.runs == len(few)


def test_what_was_right_stays_right() -> None:
    plain = Surroundings(costs(), lambda _: None)
    grids = (Grid(2, 1, 1), Grid(2, 2, 1), Grid(2, 2, 2), Grid(4, 2, 1))
    made = calibrate([StencilRun(step(grid), 1, iteration(step(grid), plain).mean_s(1)) for grid in grids], plain)
    tuned = made.tuned
    assert (tuned.latency, tuned.per_byte, tuned.compute) == pytest.approx((1, 1, 1), abs=1e-3)
    assert (tuned.network_s_per_B, tuned.hop_s) == (0, 0)


def test_too_few_runs_are_refused() -> None:
    runs = [StencilRun(step(Grid(1, 1, 1)), 1, 1.0)] * 5 + [StencilRun(step(Grid(2, 1, 1)), 1, 1.0)] * (
        LEAST_RUNS - 1
    )
    with pytest.raises(RequestError, match="too few to calibrate"):
        calibrate(runs, Surroundings(costs(), lambda _: None))


def test_grids_are_ranked_and_symmetric_ones_not_told_apart() -> None:
    plain = Surroundings(costs(), lambda _: None)
    # So many cells that bytes count more than messages.
    ordered, refused = rank_grids(lambda grid: step(grid, 512), factorisations(64), plain, 10)
    assert refused == {}
    assert len(ordered) == 28  # 2^6 into three ordered factors: C(8, 2)
    assert ordered[0].grid == Grid(4, 4, 4)
    assert ordered[-1].grid.directions == 1
    rivals = {one.grid for one in not_told_apart(ordered, plain)}
    assert Grid(8, 4, 2) in rivals
    assert Grid(64, 1, 1) not in rivals
    for one in ordered:
        assert (one.low_s or 0.0) < one.time_s < (one.high_s or 0.0)


def test_grids_with_too_few_cells_are_left_out_with_the_reason() -> None:
    ordered, refused = rank_grids(
        lambda grid: step(grid, 16),
        [Grid(32, 1, 1), Grid(4, 4, 2)],
        Surroundings(costs(), lambda _: None),
        1,
    )
    assert [one.grid for one in ordered] == [Grid(4, 4, 2)]
    assert "only 16 cells" in refused["32x1x1"]
    # Why the first one is none: others may fail for less.
    with pytest.raises(RequestError, match="along x have only 16 cells"):
        rank_grids(
            lambda grid: step(grid, 16),
            [Grid(32, 1, 1), Grid(1, 1, 32)],
            Surroundings(costs(), lambda _: None),
            1,
        )


def test_a_calibrated_interval_is_as_wide_as_the_calibration_says() -> None:
    plain = Surroundings(costs(), lambda _: None)
    made = predict_step(step(Grid(2, 2, 2)), replace(plain, relative_error=0.03), 1)
    assert made.high_s is not None
    assert np.log(np.array([not_none(made.low_s), made.high_s]) / made.time_s) == pytest.approx([-0.03, 0.03])
