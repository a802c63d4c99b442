"""Least squares and intervals against scipy's, against the textbook, and against what weights mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.stats import mstats

from hockney.statistics import (
    MODES_APART,
    Array,
    aicc,
    covariance,
    heeding,
    least_absolute_share,
    least_squares,
    mean_reach,
    nonnegative_least_squares,
    pooled,
    standard_error,
    steady_median,
    steady_median_error,
    steady_median_factor,
    t_reach,
)

X = np.array([1.0, 2, 4, 8, 16, 64])
Y = np.array([1.1, 1.9, 4.2, 8.1, 15.7, 64.5])
LINE = np.column_stack([np.ones_like(X), X])


def test_a_line_is_scipys() -> None:
    fitted, expected = least_squares(LINE, Y), stats.linregress(X, Y)
    assert fitted.value == pytest.approx([expected.intercept, expected.slope], rel=1e-12)
    errors = fitted.noise * fitted.errors
    assert errors == pytest.approx([expected.intercept_stderr, expected.stderr], rel=1e-12)
    assert fitted.freedom == 4


def test_columns_may_differ_by_orders_of_magnitude() -> None:
    scale = np.array([1e-6, 1e9])
    plain, scaled = least_squares(LINE, Y), least_squares(LINE * scale, Y)
    assert scaled.value * scale == pytest.approx(plain.value, rel=1e-12)
    assert scaled.errors * scale == pytest.approx(plain.errors, rel=1e-12)


def test_a_weight_of_root_two_is_the_point_twice() -> None:
    weight = np.ones_like(X)
    weight[2] = math.sqrt(2)
    twice = least_squares(np.vstack([LINE, LINE[2]]), np.append(Y, Y[2]))
    weighted = least_squares(LINE, Y, weight)
    assert weighted.value == pytest.approx(twice.value, rel=1e-12)
    assert weighted.square == pytest.approx(twice.square, rel=1e-12)
    assert weighted.covariance == pytest.approx(twice.covariance, rel=1e-12)


def test_the_leverages_of_the_points_add_up_to_the_coefficients() -> None:
    # The trace of the hat matrix; none of its entries is beyond 0 to 1.
    leverage = least_squares(LINE, Y).leverage(LINE)
    assert leverage.sum() == pytest.approx(2)
    assert np.all((leverage > 0) & (leverage < 1))


def test_what_the_points_do_not_determine_is_zero() -> None:
    fitted = least_squares(np.column_stack([X, np.zeros_like(X)]), 3 * X)
    assert fitted.value == pytest.approx([3, 0])
    assert fitted.covariance == pytest.approx(np.array([[1 / (X @ X), 0], [0, 0]]))


def test_a_line_through_two_points_has_no_noise_to_state() -> None:
    assert least_squares(LINE[:2], Y[:2]).noise == math.inf


def test_the_covariance_of_a_jacobian_is_that_of_the_design() -> None:
    assert covariance(LINE) == pytest.approx(np.linalg.inv(LINE.T @ LINE), rel=1e-10)


def test_intervals_are_students() -> None:
    low, high = stats.t.interval(0.95, len(Y) - 1, Y.mean(), stats.sem(Y))
    assert (Y.mean() - mean_reach(Y), Y.mean() + mean_reach(Y)) == pytest.approx((low, high))
    # Student's table: 12.706 with one degree of freedom, 1.96 with many.
    assert t_reach(1.0, 1) == pytest.approx(12.706, abs=5e-4)
    assert t_reach(np.array([1.0, 2.0]), 10**9) == pytest.approx([1.96, 3.92], abs=1e-4)
    assert math.isnan(t_reach(1.0, 0))


def test_an_interval_stands_for_its_standard_error() -> None:
    assert standard_error(10 - 1.96 * 0.3, 10 + 1.96 * 0.3) == pytest.approx(0.3)


def test_aicc_by_hand() -> None:
    # 10 points, two parameters and the variance: 10 ln(10/10) + 2·3 + 2·3·4/(10 − 3 − 1).
    assert aicc(10.0, 10, 2) == pytest.approx(10.0)
    assert aicc(10 * math.e, 10, 2) == pytest.approx(20.0)
    assert aicc(1.0, 4, 2) == math.inf


@pytest.mark.parametrize(
    ("missed", "correction", "share"),
    [
        ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.5),
        # 0.2 for two points, 1 for one whose correction weighs more than theirs together.
        ([0.2, 0.2, 3.0], [1.0, 1.0, 3.0], 1.0),
        ([0.2, 0.2, 1.0], [1.0, 1.0, 1.0], 0.2),
        ([-1.0, -2.0], [1.0, 1.0], 0.0),
        ([5.0, 6.0], [1.0, 1.0], 1.0),
        ([1.0, 2.0], [0.0, 0.0], 0.0),
    ],
)
def test_the_share_with_the_least_absolute_error(
    missed: list[float], correction: list[float], share: float
) -> None:
    assert least_absolute_share(np.array(missed), np.array(correction)) == pytest.approx(share)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30])
def test_the_steady_median_is_scipys_of_logarithms(count: int) -> None:
    # So close together that none counts as disturbed.
    values = np.exp(0.02 * np.random.default_rng(count).standard_normal((5, count)))
    expected = [math.exp(mstats.hdquantiles(np.log(row), [0.5])[0]) if count > 1 else row[0] for row in values]
    assert steady_median(values) == pytest.approx(expected, rel=1e-12)
    assert steady_median(5 * values) == pytest.approx(5 * steady_median(values), rel=1e-12)
    holes = np.insert(values, count // 2, np.nan, axis=1)
    assert steady_median(holes) == pytest.approx(expected, rel=1e-12)


def test_a_steady_median_lies_between_two_modes_and_not_at_a_disturbed_value() -> None:
    two_modes = np.array([[1.0, 1.0, 1.2, 1.2, 1.2], [1.0, 1.0, 1.0, 1.2, 1.2]])
    upper, lower = steady_median(two_modes)
    assert 1.05 < lower < upper < 1.15
    (disturbed,) = steady_median(np.array([[1.0, 1.0, 1000.0]]))
    # The weight of the largest of three is what 6x(1 − x) holds between 2/3 and 1.
    assert disturbed == pytest.approx(math.exp(7 / 27 * MODES_APART))
    assert np.isnan(steady_median(np.array([[np.nan, np.nan]])))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 12, 20, 50])
@pytest.mark.parametrize("spread", [0.01, 0.1, 0.3, 0.6])
def test_the_steady_median_errs_by_its_factor(count: int, spread: float) -> None:
    draws = 40_000
    logarithms = spread * np.random.default_rng(count).standard_normal((draws, count))
    error = np.std(np.log(steady_median(np.exp(logarithms)))) * math.sqrt(count) / spread
    chance = 3 / math.sqrt(2 * draws)
    factor = math.sqrt(np.mean(steady_median_factor(logarithms) ** 2))
    assert error <= factor * (1 + chance)
    # The more values lie far out, the more of the rows count as sample medians, which few values need not.
    assert factor <= (error + (0.05 if spread < MODES_APART / 4 else 0.25)) * (1 + chance)
    holes = np.insert(logarithms, 0, np.nan, axis=1)
    assert np.array_equal(steady_median_factor(holes), steady_median_factor(logarithms))


def drawn(kind: str, shape: tuple[int, int]) -> Array:
    """Logarithms of times whose median is 0, but for two modes: there it is what half of all times lie below."""
    lot = np.random.default_rng(shape[1])
    if kind == "normal":
        return 0.05 * lot.standard_normal(shape)
    if kind == "heavy-tailed":
        return 0.04 * lot.standard_t(2, shape)
    if kind == "skewed":
        return 0.04 * (lot.lognormal(0, 1, shape) - 1)
    shares = {"one in five slow": (0.2, 0.38), "two modes": (0.4, 0.25)}
    share, apart = shares[kind]
    # Half of all lie below x: (1 − share) Φ(x/0.04) + share Φ((x − apart)/0.04) = 1/2, the last term is nothing.
    middle = 0.04 * stats.norm.ppf(0.5 / (1 - share))
    return 0.04 * lot.standard_normal(shape) + apart * (lot.random(shape) < share) - middle


@pytest.mark.parametrize("kind", ["normal", "heavy-tailed", "skewed", "one in five slow", "two modes"])
@pytest.mark.parametrize("count", [12, 20, 60])
def test_intervals_from_the_error_of_a_steady_median_hold_the_median(kind: str, count: int) -> None:
    draws = 2000
    logarithms = drawn(kind, (draws, count))
    reach = np.array([t_reach(steady_median_error(row), count - 1) for row in logarithms])
    held = float(np.mean(np.abs(np.log(steady_median(np.exp(logarithms)))) <= reach))
    assert held >= 0.935 - 3 * math.sqrt(0.95 * 0.05 / draws)
    # An interval from the variance, of normal times; it is three times as wide where times are heavy-tailed.
    oracle = {"normal": 0.05, "heavy-tailed": 0.04 * 1.13}
    if kind in oracle:
        least = 1.25 * oracle[kind] / math.sqrt(count) * stats.t.ppf(0.975, count - 1)
        assert np.median(reach) <= 1.3 * least


def test_independent_measurements_of_one_time_are_pooled() -> None:
    """Streams of known spread: the pooled interval holds the truth as often, and is narrower by a root."""
    random = np.random.default_rng(5)
    held, widths = 0, []
    for _ in range(2000):
        times = np.exp(random.normal(0.0, 0.05, 8))
        factor = math.exp(1.96 * 0.05)
        _, low, high = pooled(times, times / factor, times * factor)
        held += low <= 1.0 <= high
        widths.append(math.log(high / low) / 2)
    # Four standard errors of a share of 2,000 are 2 %; the scale for what differs makes the interval cautious.
    assert 0.93 < held / 2000 < 0.99
    # 1.96 · 5 % / √8 is 3.5 %; the median's factor at eight is 1.16 at most.
    assert 0.034 < np.median(widths) < 0.044


def test_what_differs_by_more_than_its_intervals_say_is_less_sure() -> None:
    times = np.array([1.0, 1.1, 1.2, 1.3])
    exact = pooled(times, times * 0.999, times * 1.001)
    assert exact[1] < 1.1 < 1.2 < exact[2]
    one = np.array([2.0]), np.array([1.9]), np.array([2.1])
    assert pooled(*one) == pytest.approx((2.0, 2.0 / math.sqrt(2.1 / 1.9), 2.0 * math.sqrt(2.1 / 1.9)))


def test_none_is_negative_whatever_the_units() -> None:
    """Start-up in s and bytes in s/B, ten decades apart, come back; what would be negative is 0."""
    size_B = np.array([1.0, 1e3, 1e6, 1e9, 1e12])
    design = np.column_stack([np.ones_like(size_B), size_B, 1e-30 / size_B])
    found = nonnegative_least_squares(design, design @ [3e-6, 2e-19, 4e24])
    assert found == pytest.approx([3e-6, 2e-19, 4e24], rel=1e-6)
    assert nonnegative_least_squares(design[:, :2], 1 - size_B / 2e12)[1] == 0


def test_a_choice_heeds_a_trend_that_all_candidates_have() -> None:
    times_s = np.array([1.0, 2.0])
    assert heeding(times_s, times_s) == pytest.approx(times_s)
    assert heeding(times_s, np.array([32.0, 2.0])).argmin() == 1
    assert heeding(times_s, np.array([math.nan, 2.0])) == pytest.approx(times_s)
