"""The interval of a prediction: what another campaign on this machine would measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.factories import not_none

from hockney.models._lines import one_regime
from hockney.models.base import Fit, Parameter, Quality, corrected, drift, interval, models
from hockney.records.series import Caches, Series

MIB = 2**20
SIZE_B = np.array([1.0, 1024, MIB, 4 * MIB])
TIME_S = 1e-6 + 1e-10 * SIZE_B
FACTOR, REACH = 1.5, 0.03


@pytest.fixture
def fit() -> Fit:
    """The line through all points."""
    quality = Quality(
        points=4,
        median_relative_error=0.0,
        p95_relative_error=0.0,
        max_relative_error=0.0,
        adjusted_r2=1.0,
        leave_one_out_median=0.1,
        leave_one_out_p95=0.2,
        prediction_factor=FACTOR,
    )
    line = one_regime(Parameter(value=1e-6, unit="s"), Parameter(value=1e-10, unit="s/B"))
    return Fit(model="hockney", regimes=line, parameters={}, quality=quality)


def series(caches: Caches | None = None) -> Series:
    """Every time with an interval of ±3 %, of several launches."""
    low_s, high_s = TIME_S / math.exp(REACH), TIME_S * math.exp(REACH)
    return Series({}, SIZE_B, TIME_S, low_s, high_s, freedom=np.full(4, 8.0), caches=caches)


def reach(fit: Fit, size_B: float, measured: Series | None) -> float:
    bounds = not_none(interval(fit, size_B, measured))
    low_s, high_s = map(float, bounds)
    assert high_s * low_s == pytest.approx((1e-6 + 1e-10 * size_B) ** 2), "as far below as above"
    return math.log(high_s / low_s) / 2


def test_where_launches_measured_it_is_theirs_and_the_drift_of_both_campaigns(fit: Fit) -> None:
    for size_B in SIZE_B:
        assert reach(fit, size_B, series()) == pytest.approx(
            math.sqrt(2) * math.hypot(REACH, 1.96 * 0.025), rel=1e-3
        )


def test_between_two_sizes_it_is_wider_and_beyond_them_that_of_sizes_left_out(fit: Fit) -> None:
    middle = reach(fit, 32.0, series())
    assert reach(fit, 2.0, series()) < reach(fit, 8.0, series()) < middle
    # Half way the bridge has the whole deviation of a size left out.
    assert middle == pytest.approx(math.hypot(reach(fit, 1.0, series()), math.log(FACTOR)), rel=1e-3)
    assert reach(fit, 16.0 * MIB, series()) == pytest.approx(math.log(FACTOR))
    assert reach(fit, 32.0, None) == pytest.approx(math.log(FACTOR))


def test_large_messages_drift_with_the_share_of_the_last_cache_that_they_fill(fit: Fit) -> None:
    # 4 buffers of 4 MiB are half of 32 MiB, of 64 B next to nothing; more than all of it is all of it.
    last = Caches(32 * MIB)
    assert drift(4 * MIB, last) == pytest.approx(math.hypot(0.025, 0.25 / 2))
    assert drift([64, 2**30], last) == pytest.approx([0.025, math.hypot(0.025, 0.25)], rel=1e-4)
    assert drift(4 * MIB, None) == 0.025
    expected = math.sqrt(2) * math.hypot(REACH, 1.96 * float(drift(4 * MIB, last)))
    assert reach(fit, 4.0 * MIB, series(last)) == pytest.approx(expected, rel=1e-3)
    beyond = math.sqrt(2) * 1.96 * 0.25
    assert reach(fit, 64.0 * MIB, series(last)) == pytest.approx(math.hypot(math.log(FACTOR), beyond), rel=1e-3)
    assert reach(fit, 1.0, series(last)) == pytest.approx(reach(fit, 1.0, series()))


def test_what_only_the_last_cache_holds_drifts_however_large_that_one_is() -> None:
    # Four buffers of 512 KiB are 2 MiB; of 520 KiB they are more.
    caches = Caches(2**40, 2 * MIB)
    assert drift(512 * 1024, caches) == pytest.approx(0.025, rel=1e-4)
    assert drift(520 * 1024, caches) == pytest.approx(math.hypot(0.025, 0.03), rel=1e-4)


def off_by(share: float) -> Series:
    """The measured times, all longer than the line by a share."""
    longer = series()
    return Series({}, SIZE_B, TIME_S * (1 + share), longer.low_s, longer.high_s)


@pytest.mark.parametrize(("weight", "expected"), [(0.0, 1.0), (0.5, math.sqrt(1.2)), (1.0, 1.2)])
def test_among_the_measured_sizes_a_time_is_corrected_by_weight(fit: Fit, weight: float, expected: float) -> None:
    not_none(fit.quality).correction_weight = weight
    # A straight line through the neighbours of a straight line.
    made = corrected(fit, 2048.0, off_by(0.2))
    assert float(made) == pytest.approx(expected * (1e-6 + 1e-10 * 2048))


def test_beyond_the_measured_sizes_and_without_a_weight_the_model_stands(fit: Fit) -> None:
    line = [1e-6, 1e-6 + 1e-10 * 8 * MIB]
    assert corrected(fit, [2048.0], off_by(0.2)) == pytest.approx([1e-6 + 1e-10 * 2048]), "a file of last week"
    not_none(fit.quality).correction_weight = 1.0
    assert corrected(fit, [0.0, 8 * MIB], off_by(0.2)) == pytest.approx(line)
    assert corrected(fit, [2048.0], None) == pytest.approx([1e-6 + 1e-10 * 2048])


def test_the_prediction_interval_covers_unseen_sizes() -> None:
    sizes, rng = np.array([0.0, *(2.0 ** np.arange(23))]), np.random.default_rng(8)
    covered: list[np.ndarray] = []
    for _ in range(20):
        time = np.where(sizes <= 8192, 1e-6 + sizes * 3e-10, 3e-6 + sizes * 1e-10)
        time = time * np.exp(0.03 * rng.standard_normal(sizes.size))
        seen_s = time[::2]
        seen = Series({}, sizes[::2], seen_s, seen_s, seen_s)
        bounds = not_none(interval(models.get("piecewise")(seen), sizes[1:-1:2], seen))
        covered.append((bounds[0] <= time[1:-1:2]) & (time[1:-1:2] <= bounds[1]))
    # Calibrated on sizes left out one at a time, whose neighbours are twice as far: rather too wide than not.
    assert np.mean(covered) > 0.93
