"""The statistics of a check: Holm's correction, ratios of launches, and what promises no false alarm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.check.planted import MPIS, Made, Measured, Noise, Spreads, equal, times

from hockney.check.judge import LEAST_LAUNCHES, RATIO_DRIFT, comparisons, judge
from hockney.check.study import bounds, compared
from hockney.models.base import DRIFT_AT_REFERENCE
from hockney.statistics import NORMAL, holm, steady_median_factor

FAMILY_ERROR = 0.02


def test_holms_example() -> None:
    # Holm (1979), by hand: four p-values, sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, and never falling.
    p = np.array([0.01, 0.04, 0.03, np.nan, 0.005])
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, np.nan, 0.02])
    assert holm(np.array([0.9, 0.8])).max() == 1.0
    assert holm(np.array([np.nan])).size == 1


def test_a_ratio_is_that_of_each_launch() -> None:
    # A launch that is slow as a whole changes no ratio: what moves between campaigns alone makes the interval.
    fast = np.array([1.0, 5.0, 1.0, 1.0, 1.0])
    time_s = np.stack([2 * fast * [1.0, 1.001, 0.999, 1.0, 1.0005], fast])
    judged = judge(comparisons([(0, [(1, 1)])], ["x"]), time_s, time_s, time_s)
    assert judged.ratio[0] == pytest.approx(2, rel=1e-3)
    assert np.log(judged.high / 2)[0] == pytest.approx(NORMAL * RATIO_DRIFT, rel=0.01)
    assert np.log(2 / judged.low)[0] == pytest.approx(NORMAL * RATIO_DRIFT, rel=0.01)
    assert judged.p_corrected[0] < 1e-6


def test_parts_are_added_as_often_as_they_are_called() -> None:
    time_s = np.array([[10.0] * 3, [1.0] * 3, [3.0] * 3])
    judged = judge(comparisons([(0, [(2, 1), (1, 2)]), (0, [(4, 1)])], ["x", "y"]), time_s, time_s, time_s)
    np.testing.assert_allclose(judged.ratio, [10 / (2 * 1 + 3), 10 / 4])


@pytest.mark.parametrize("launches", [1, 2, 3, 4])
def test_too_few_launches_tell_nothing(launches: int) -> None:
    time_s = np.array([[9.0, 9.1, 9.05, 9.1], [1.0, 1.1, 1.05, 1.0]])[:, :launches]
    judged = judge(comparisons([(0, [(1, 1)])], ["x"]), time_s, time_s, time_s)
    assert launches < LEAST_LAUNCHES
    assert np.isnan(judged.p[0])
    assert judged.launches[0] == launches


def test_launches_that_time_one_side_alone_do_not_count() -> None:
    time_s = np.array([[9.0, 9.1, 9.05, 9.0, 9.1, np.nan], [1.0, 1.1, 1.05, 1.0, np.nan, 1.0]])
    judged = judge(comparisons([(0, [(1, 1)])], ["x"]), time_s, time_s, time_s)
    assert judged.launches[0] == LEAST_LAUNCHES - 1
    assert np.isnan(judged.p[0])


def test_the_probability_is_students_of_the_median() -> None:
    # Five launches, evenly spread: their median is their mean, with a standard error that is as much larger.
    logarithms = 0.1 + 0.03 * np.arange(-2, 3)
    time_s = np.stack([np.exp(logarithms), np.ones(5)])
    error = (
        steady_median_factor(np.array([logarithms], dtype=np.float64))[0] * logarithms.std(ddof=1) / np.sqrt(5)
    )
    judged = judge(comparisons([(0, [(1, 1)])], ["x"]), time_s, time_s, time_s)
    # With what moves between campaigns, which is known: by hand after Satterthwaite.
    total = np.hypot(error, RATIO_DRIFT)
    assert judged.p[0] == pytest.approx(stats.t.sf(0.1 / total, 4 * (total / error) ** 4), rel=1e-9)


def test_a_launch_that_another_program_took_hides_nothing() -> None:
    # As met at a load of 10: seven launches agree, of the eighth one side took a thousand times as long.
    steady = np.array([2.38, 2.38, 2.13, 2.42, 2.40, 2.32, 2.54, 2.43])
    time_s = np.stack([steady, np.where(np.arange(8) == 4, 650.0, 1.0)])
    judged = judge(comparisons([(0, [(1, 1)])], ["x"]), time_s, time_s, time_s)
    assert judged.p[0] < 1e-4
    assert 1.8 < judged.low[0] < judged.high[0] < 3.2
    # Of five launches nobody can say which was the disturbed one.
    judged = judge(comparisons([(0, [(1, 1)])], ["x"]), *[time_s[:, 3:]] * 3)
    assert judged.p[0] > 0.1


def test_what_a_launch_does_to_all_sizes_is_no_finding() -> None:
    # Five launches of a call are 1.5, 0.9, 1.4, 1.0 and 1.2 times as slow at all of twenty sizes. Sizes that each
    # vary by a thousandth would be sure of a difference; five launches are not.
    random = np.random.default_rng(3)
    shift = np.log([1.5, 0.9, 1.4, 1.0, 1.2])
    slow = np.exp(shift + random.normal(0, 1e-3, (20, 5)))
    time_s = np.concatenate([slow, np.ones((20, 5))])
    pairs = comparisons([(row, [(1, row + 20)]) for row in range(20)], ["x"] * 20)
    judged = judge(pairs, time_s, time_s, time_s)
    assert np.nanmin(judged.p_corrected) > FAMILY_ERROR


def test_launches_that_agree_to_the_last_digit_are_exact() -> None:
    time_s = np.array([[1.2] * 5, [1.0] * 5, [1.0] * 5])
    judged = judge(comparisons([(0, [(1, 1)]), (1, [(1, 2)])], ["x", "y"]), time_s, time_s, time_s)
    np.testing.assert_array_equal(judged.p, [0.0, 1.0])


SIZES = (4, 8, 16, 32, 64, 128)


def alarms(noise: Noise, campaigns: int, launches: int, seed: int) -> int:
    """Of so many campaigns in which nothing takes longer than anything else, those with a false alarm.

    Every comparison of two calls stands on the brink: one that is truly faster could not alarm.
    """
    made = times(equal, launches, sizes=SIZES, ranks=[2])
    pairs = compared(made, bounds(made))
    random, found = np.random.default_rng(seed), 0
    cells = [(cell.call.operation, SIZES.index(cell.size_B) if cell.size_B else 0) for cell in made.cells]
    for _ in range(campaigns):
        time_s = made.time_s * np.exp(noise.drawn(cells, launches, random))
        judged = judge(pairs, time_s, 0.999 * time_s, 1.001 * time_s)
        found += bool(np.nanmin(judged.p_corrected) <= FAMILY_ERROR)
    return found


NOISES: dict[str, Noise] = {
    **{mpi: Measured(mpi) for mpi in MPIS},
    "heavy tails": Made(),
    "launches alone": Made(common=0.05, own=1e-4),
    "sizes alone": Made(common=0.0, own=0.05),
    "levels": Made(level_share=0.1, level=2.0),
    "disturbed launches": Made(level_share=0.05, level=500.0),
    "spreads of their own": Spreads(),
    # Launches agree, and another campaign would give other times.
    "between campaigns": Made(common=0.005, own=0.01, drift=DRIFT_AT_REFERENCE),
}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("launches", [5, pytest.param(8, marks=pytest.mark.thorough)])
def test_noise_alone_rarely_alarms(noise: Noise, launches: int) -> None:
    # Of 25 campaigns at 2 % half a one is expected; more than 4 come in one of 10,000 such tests (binomial).
    assert alarms(noise, 25, launches, seed=launches) <= 4


@pytest.mark.thorough
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("launches", [5, 10, 12, 15])
def test_of_a_thousand_campaigns_of_noise_at_most_fifty_alarm(noise: Noise, launches: int) -> None:
    assert alarms(noise, 1000, launches, seed=100 + launches) <= 50
