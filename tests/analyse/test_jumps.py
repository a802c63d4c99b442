"""Jumps where they were put, and none where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.analyse.jumps import jumps

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
