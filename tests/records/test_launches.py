"""Intervals between launches: they hold the true medians, and are not much wider than an oracle's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.factories import draws

from hockney.records.series_of_table import intervals

SIZES, DRAWS = 20, draws(400)


@pytest.mark.parametrize(
    ("launches", "of_launch", "of_size"),
    # What two launches have in common has one degree of freedom: there is no interval then.
    [
        (2, 0.0, 0.02),
        *((count, *moved) for count in (3, 6) for moved in ((0.0, 0.02), (0.02, 0.02), (0.05, 0.005))),
    ],
)
def test_they_hold_the_true_median(launches: int, of_launch: float, of_size: float) -> None:
    """Launches move all sizes alike by a normal factor, and each by another."""
    random = np.random.default_rng(launches)
    held, reach = [], []
    for _ in range(DRAWS):
        moved = of_launch * random.standard_normal(launches)
        times = np.exp(moved + of_size * random.standard_normal((SIZES, launches)))
        _, low, high, _ = intervals(times, times, times)
        held.append(np.mean((low <= 1) & (high >= 1)))
        reach.append(np.median(np.log(high / low) / 2))
    # Standard errors of the share where the sizes of a draw are right or wrong together.
    assert np.mean(held) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / DRAWS)
    # Who knows how far launches differ needs 1.96 standard errors of the median; who has to ask them, t.
    oracle = 1.1 * math.hypot(of_launch, of_size) / math.sqrt(launches)
    widest = stats.t.ppf(0.975, launches - 1) if of_launch > of_size else 1.5 * stats.t.ppf(0.975, 10)
    if of_launch != of_size:
        assert np.median(reach) <= widest * oracle


def test_a_size_that_scatters_more_than_its_like_has_a_wider_interval() -> None:
    random = np.random.default_rng(1)
    spread = np.full((SIZES, 1), 0.01)
    spread[3] = 0.2
    times = np.exp(spread * random.standard_normal((SIZES, 3)))
    _, low, high, freedom = intervals(times, times, times)
    width = np.log(high / low)
    # Its own spread, with the two degrees of freedom of three launches; what these do to all sizes is little.
    own = stats.t.ppf(0.975, 2) * np.std(np.log(times[3]), ddof=1) / math.sqrt(3)
    assert width[3] / 2 == pytest.approx(own, rel=0.1)
    # The others: two of their own and eight of all.
    assert np.median(freedom) == pytest.approx(10, abs=0.5)


def test_what_samples_within_launches_leave_open_averages_over_launches() -> None:
    times = np.full((SIZES, 3), 1e-6)
    _, low, high, _ = intervals(times / 1.2, times, times * 1.2)
    # Ten degrees of freedom, and three launches that err independently.
    expected = stats.t.ppf(0.975, 10) * math.log(1.2) / 1.96 / math.sqrt(3)
    assert np.log(high / low) / 2 == pytest.approx(np.full(SIZES, expected), rel=1e-6)


def test_a_difference_of_two_times_may_be_none() -> None:
    times = np.array([[1e-9, 2e-9, 9e-9]] * 4)
    _, low, high, _ = intervals(np.zeros_like(times), times, 2 * times, is_multiplied=False)
    assert np.all(low == 0)
    assert np.all(high > 9e-9)


def test_a_size_that_one_launch_alone_met_takes_the_spread_of_the_others() -> None:
    times = np.array([[1.0, 1.02, 0.98]] * 6)
    times[2, 1:] = np.nan
    _, low, high, freedom = intervals(times, times, times)
    assert np.all(np.isfinite(freedom))
    # √3 for launches that are not there; the median of up to three errs as their mean does.
    ratio = np.log(high[2] / low[2]) / np.log(high[0] / low[0])
    assert ratio == pytest.approx(math.sqrt(3))


def test_too_few_launches_of_too_few_sizes_say_nothing() -> None:
    _, _, _, freedom = intervals(*[np.array([[1.0, 1.1]])] * 3)
    assert np.isnan(freedom).all()


def test_a_lower_bound_of_no_time_leaves_the_other_sizes_alone() -> None:
    random = np.random.default_rng(2)
    times = np.exp(0.02 * random.standard_normal((SIZES, 3))) * 4.0 ** np.arange(SIZES)[:, None]
    low = times.copy()
    expected = intervals(times, times, times)
    low[0, 0] = 0
    _, lower, upper, _ = intervals(low, times, times)
    assert lower[1:] == pytest.approx(expected[1][1:])
    assert upper[1:] == pytest.approx(expected[2][1:])


def test_one_size_of_several_launches_speaks_for_those_of_one() -> None:
    times = np.full((4, 3), np.nan)
    times[:, 0] = 1.0
    times[2, 1:] = 1.3, 0.8
    _, low, high, _ = intervals(times, times, times)
    width = np.log(high / low)
    # A single launch errs √3 times as much as three, whose median, so far apart, errs 1.25 times as their mean.
    assert width[0] == pytest.approx(width[2] * math.sqrt(3) / 1.25)
