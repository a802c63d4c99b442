"""Jumps where they were put, and none where there are none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.capabilities import shared

from hockney.machine.placement import placement
from hockney.machine.system import find_system
from hockney.models.over_ranks.boundaries import Boundary, boundaries
from hockney.models.over_ranks.jumps import Examined, at_boundaries, jumps, lasting
from hockney.models.over_ranks.points import curves, points
from hockney.records import table
from hockney.report.places import domains
from hockney.statistics import Array

RANKS = np.arange(2.0, 130.0, 4.0)


def noisy(time: np.ndarray, seed: int, spread: float = 0.02) -> np.ndarray:
    return time * np.exp(np.random.default_rng(seed).normal(0, spread, time.size))


@pytest.mark.parametrize("seed", range(5))
def test_a_level_that_rises_by_half_is_found_where_it_is(seed: int) -> None:
    time = noisy((1 + 0.1 * RANKS) * np.where(RANKS > 64, 1.5, 1.0), seed)
    (jump,) = jumps(RANKS, time)
    assert (jump.before, jump.after) == (62, 66)
    # 2 % noise on some six points a side: the ratio of two levels is good to a few percent.
    assert jump.level_ratio == pytest.approx(1.5, rel=0.06)


def test_a_slope_that_trebles_is_found() -> None:
    time = noisy(1 + 0.05 * RANKS + 0.1 * np.maximum(RANKS - 64, 0), 1, 0.01)
    found = jumps(RANKS, time)
    assert any(abs(jump.before - 64) <= 12 and jump.slope_ratio and jump.slope_ratio > 2 for jump in found)


def test_straight_lines_have_none() -> None:
    # 200 curves of 32 points: at a chance of 1e-4 a place, fewer than one false finding is expected.
    count = sum(len(jumps(RANKS, noisy(1 + 0.1 * RANKS, seed, 0.03))) for seed in range(200))
    assert count <= 2


def test_few_points_are_no_evidence() -> None:
    assert jumps(np.array([2.0, 4.0, 8.0, 16.0]), np.array([1.0, 1.1, 3.0, 3.1])) == []


EVERY = np.arange(2.0, 257.0)
EXPECTED = [Boundary(64, 65, "package"), Boundary(128, 129, "node"), Boundary(192, 193, "package")]


def found_at(tested: list[Examined]) -> list[int]:
    return [one.boundary.before for one in tested if one.jump is not None]


@pytest.mark.parametrize("seed", range(5))
def test_slopes_that_rise_by_three_quarters_are_found_at_boundaries(seed: int) -> None:
    """The slopes that the README of orfeo-epyc gives (0.19, 0.34, 0.55 µs a rank), with 1 % noise."""
    rise = 0.19 * EVERY + 0.15 * np.maximum(EVERY - 64, 0) + 0.21 * np.maximum(EVERY - 128, 0)
    time = noisy(1 + rise, seed, 0.01)
    # None of them is twice as steep: the scan alone finds none.
    assert [jump for jump in jumps(EVERY, time) if (jump.before, jump.after) in ((64, 65), (128, 129))] == []
    tested = at_boundaries(EVERY, time, EXPECTED)
    assert found_at(tested) == [64, 128]
    named = {jump.before: jump for jump in jumps(EVERY, time, tested)}
    assert (named[64].boundary, named[128].boundary) == ("package", "node")
    # Slopes over 64 ranks at 1 % noise are good to some 3 %, and their ratio to 5 %: three of these.
    assert named[64].slope_ratio == pytest.approx(0.34 / 0.19, rel=0.15)
    assert named[128].slope_ratio == pytest.approx(0.55 / 0.34, rel=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_of_a_tenth_is_found_at_its_boundary(seed: int) -> None:
    time = noisy((1 + 0.1 * EVERY) * np.where(EVERY > 128, 1.1, 1.0), seed)
    assert found_at(at_boundaries(EVERY, time, EXPECTED)) == [128]


@pytest.mark.parametrize(
    "time",
    [1 + 0.1 * EVERY, 1 + np.log2(EVERY), np.sqrt(EVERY), 1 + 0.01 * EVERY**2, 1 + 0.1 * EVERY * np.log2(EVERY)],
    ids=["line", "log", "root", "square", "P log P"],
)
def test_smooth_curves_have_no_breaks_at_boundaries(time: np.ndarray) -> None:
    # 40 curves at a chance of 1e-4 each: none is expected.
    assert [found_at(at_boundaries(EVERY, noisy(time, seed, 0.03), EXPECTED)) for seed in range(40)] == [[]] * 40


@pytest.mark.parametrize("bend", [np.log2, np.square], ids=["log", "square"])
def test_what_a_smooth_curve_explains_does_not_last(bend: Callable[[Array], Array]) -> None:
    """The scan takes each of these curves for broken."""
    for seed in range(3):
        time = noisy(1 + bend(EVERY), seed, 0.03)
        assert jumps(EVERY, time)
        assert lasting(EVERY, time, []) == []


def test_one_disturbed_point_is_no_break() -> None:
    time = noisy(1 + 0.1 * RANKS, 1)
    time[16] *= 1.5
    time[17] *= 1.2
    assert lasting(RANKS, time, []) == []


@pytest.mark.parametrize("seed", range(3))
def test_planted_breaks_last(seed: int) -> None:
    time = noisy((1 + 0.1 * RANKS) * np.where(RANKS > 64, 1.5, 1.0), seed)
    assert [jump.before for jump in lasting(RANKS, time, [])] == [62]
    steeper = noisy(1 + 0.19 * EVERY + 0.36 * np.maximum(EVERY - 128, 0), seed, 0.01)
    (jump,) = lasting(EVERY, steeper, [Boundary(128, 129, "node")])
    assert (jump.before, jump.boundary) == (128, "node")
    assert jump.slope_ratio == pytest.approx(0.55 / 0.19, rel=0.15)


def test_a_break_between_boundaries_is_not_theirs() -> None:
    time = noisy((1 + 0.1 * EVERY) * np.where(EVERY > 96, 1.5, 1.0), 1)
    tested = at_boundaries(EVERY, time, EXPECTED)
    assert found_at(tested) == []
    found = jumps(EVERY, time, tested)
    assert 96 in [jump.before for jump in found]
    assert {jump.boundary for jump in found} == {None}


def test_a_finding_of_the_scan_at_a_boundary_is_named() -> None:
    # Two points before the boundary are too few for a test of its own; the scan finds the step.
    time = noisy((1 + 0.1 * RANKS) * np.where(RANKS > 64, 2.0, 1.0), 2)
    tested = at_boundaries(RANKS, time, [Boundary(54, 58, "numa"), Boundary(62, 66, "package")])
    assert [one.possible for one in tested] == [False, False]
    (jump,) = jumps(RANKS, time, tested)
    assert (jump.before, jump.after, jump.boundary) == (62, 66, "package")


def test_boundaries_outside_the_curve_are_not_tested() -> None:
    assert at_boundaries(RANKS, 1 + RANKS, [Boundary(1, 2, "cache"), Boundary(126, 130, "node")]) == []


def test_the_documented_breaks_of_orfeo() -> None:
    """Linear broadcast of 8 B, mapping core: the slope changes at 64 and 128 ranks (README of the data)."""
    frame = table.load(shared("orfeo-epyc") / "tidy.csv.gz")
    system = find_system("orfeo-epyc")
    rows = frame[(frame["mapping"] == "core") & (frame["algorithm"] == "linear")]
    (curve,) = curves(points(rows, "bcast"), 8).values()
    ranks, time = curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64)
    expected = boundaries(
        [int(value) for value in ranks], lambda count: domains(placement(system, "core", count))
    )
    assert [(one.before, one.level) for one in expected] == [
        (4, "cache"),
        (16, "numa"),
        (64, "package"),
        (128, "node"),
        (192, "package"),
    ]
    tested = at_boundaries(ranks, time, expected)
    assert found_at(tested) == [64, 128]
    slopes = [jump.slope_ratio for jump in jumps(ranks, time, tested) if jump.before in (64, 128)]
    # There the slopes are taken over 6–62, 66–126 and 134–240 ranks, here between the boundaries.
    assert slopes == pytest.approx([0.34 / 0.19, 0.55 / 0.34], rel=0.1)
