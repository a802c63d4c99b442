"""What measured points say of a model between and beyond them."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.models.collectives.around import Around

NOTHING = np.full(4, np.nan)
RANKS, SIZES = np.array([4.0, 4.0, 16.0, 16.0]), np.array([8.0, 128.0, 8.0, 128.0])
RATIOS = np.exp([0.1, 0.3, 0.2, 0.0])


def corrected(ranks: float, size_B: float, factor: float | None = 1.5) -> tuple[float, float, float]:
    around = Around(RANKS, SIZES, RATIOS, RATIOS / 1.1, RATIOS * 1.2)
    made = around.corrected(np.array([ranks]), np.array([size_B]), np.array([1.0]), factor)
    return float(made.time_s[0]), float(made.low_s[0]), float(made.high_s[0])


def test_a_point_has_its_time_and_its_interval() -> None:
    assert corrected(16, 8) == pytest.approx((np.exp(0.2), np.exp(0.2) / 1.1, np.exp(0.2) * 1.2))
    assert corrected(16, 8, None) == pytest.approx((np.exp(0.2), np.exp(0.2) / 1.1, np.exp(0.2) * 1.2))


def test_half_way_is_the_mean_of_logarithms_and_the_factor_comes_in_whole() -> None:
    # 8 ranks lie half way between 4 and 16; 32 B half way between 8 and 128 B.
    time, low, high = corrected(8, 8)
    assert time == pytest.approx(np.exp(0.15))
    assert np.log(time / low) == pytest.approx(np.hypot(np.log(1.1), np.log(1.5)))
    assert np.log(high / time) == pytest.approx(np.hypot(np.log(1.2), np.log(1.5)))
    assert corrected(8, 32)[0] == pytest.approx(np.exp(0.15))


def test_beyond_the_points_the_last_ratio_holds_with_a_wider_interval() -> None:
    time, low, _ = corrected(64, 8)
    assert time == pytest.approx(np.exp(0.2))
    # Two doublings beyond.
    assert np.log(time / low) == pytest.approx(np.hypot(np.log(1.1), np.log(1.5) * np.sqrt(3)))


def test_one_disturbed_run_does_not_rule_what_lies_beyond() -> None:
    ranks, ratios = np.array([4.0, 8.0, 16.0, 32.0]), np.exp([0.1, 0.2, 0.3, 3.0])
    around = Around(ranks, np.full(4, 8.0), ratios, NOTHING, NOTHING)
    made = around.corrected(np.array([2.0, 32.0, 64.0]), np.full(3, 8.0), np.ones(3), 1.5)
    # The medians of the first three and of the last three; at its point the run counts as it was measured.
    assert np.log(made.time_s) == pytest.approx([0.2, 3.0, 0.3])


def test_without_intervals_there_is_none() -> None:
    around = Around(RANKS, SIZES, RATIOS, NOTHING, NOTHING)
    made = around.corrected(np.array([4.0, 8.0]), np.array([8.0, 8.0]), np.ones(2), None)
    assert np.isnan(made.low_s).all()
    assert np.isnan(made.high_s).all()
