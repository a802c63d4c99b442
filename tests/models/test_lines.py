"""The one-line models recover a line that is one, and differ where a curve is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import holds, not_none

from hockney.errors import RequestError
from hockney.models.base import Fit, Parameter, interval, models, predict
from hockney.records.series import Series

SIZES = np.array([0.0, *(2.0 ** np.arange(23))])
ONE_LINE = ("asymptotic", "hockney", "least_squares")


def series_of(size_B: np.ndarray, time_s: np.ndarray, eager_limit_B: float | None = None) -> Series:
    return Series({"operation": "pingpong"}, size_B, time_s, time_s, time_s, eager_limit_B)


def fit(model: str, series: Series) -> Fit:
    return models.get(model)(series)


@pytest.mark.parametrize("model", ["hockney", "least_squares"])
def test_an_exact_line_comes_back(model: str) -> None:
    found = fit(model, series_of(SIZES, 1.5e-6 + SIZES * 8e-11))
    # Rounding of 24 sums over six decades: far below any measurement, far above 1e-16.
    assert found.regimes[0].alpha_s.value == pytest.approx(1.5e-6, rel=1e-9)
    assert found.regimes[0].beta_s_per_B.value == pytest.approx(8e-11, rel=1e-9)
    assert found.parameters["bandwidth_B_per_s"].value == pytest.approx(1.25e10, rel=1e-9)
    assert not_none(found.n_half_B).value == pytest.approx(1.5e-6 / 8e-11, rel=1e-9)
    assert not found.nonphysical
    assert found.quality is not None
    assert found.quality.leave_one_out_p95 == pytest.approx(0, abs=1e-9)
    assert found.quality.adjusted_r2 == pytest.approx(1, abs=1e-9)


def test_asymptotic_averages_the_two_ends() -> None:
    size = np.array([0, 1, 2, 4, 8, 1e6, 2e6, 8e6])
    time = np.array([9, 1, 2, 3, 9, 1000, 1000, 2000]) * 1e-6
    found = fit("asymptotic", series_of(size, time))
    # By hand: mean of 1, 2, 3 µs; mean of 1, 2, 4 GB/s over the sizes from 8e6 / 8 on.
    assert found.parameters["latency_s"].value == pytest.approx(2e-6)
    assert found.parameters["bandwidth_B_per_s"].value == pytest.approx((1e9 + 2e9 + 4e9) / 3)


def test_asymptotic_without_tiny_messages_says_what_it_used() -> None:
    found = fit("asymptotic", series_of(np.array([8.0, 1024.0]), np.array([1e-6, 2e-6])))
    assert found.parameters["latency_s"].value == pytest.approx(1e-6)
    assert "8 B" in found.notes[0]


def test_least_squares_goes_negative_where_the_relative_fit_does_not() -> None:
    # Fast in cache, slow from memory: the largest messages rule the absolute fit.
    time = np.where(SIZES <= 2**20, 3e-7 + SIZES / 12e9, 3e-7 + SIZES / 3e9)
    series = series_of(SIZES, time)
    plain, physical = fit("least_squares", series), fit("hockney", series)
    assert plain.regimes[0].alpha_s.value < 0
    assert plain.nonphysical
    assert any("negative" in note for note in plain.notes)
    assert physical.regimes[0].alpha_s.value > 0
    assert not physical.nonphysical


def test_intervals_of_least_squares_are_those_of_the_textbook() -> None:
    size, time = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 3.0, 4.0, 6.0])
    found = fit("least_squares", series_of(size, time))
    # By hand: slope 1.6, intercept 1.1, residual sum of squares 0.2, s² = 0.1, Sxx = 5, t(2) = 4.3026527.
    beta = found.regimes[0].beta_s_per_B
    assert (beta.value, beta.low, beta.high) == pytest.approx(
        (1.6, 1.6 - 4.3026527 * (0.1 / 5) ** 0.5, 1.6 + 4.3026527 * (0.1 / 5) ** 0.5), rel=1e-5
    )
    alpha = found.regimes[0].alpha_s
    width = 4.3026527 * (0.1 * (1 / 4 + 1.5**2 / 5)) ** 0.5
    assert (alpha.low, alpha.high) == pytest.approx((1.1 - width, 1.1 + width), rel=1e-5)


@pytest.mark.thorough
def test_intervals_of_hockney_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    hits = np.zeros(2)
    rounds = 400
    for _ in range(rounds):
        time = (1e-6 + SIZES * 1e-10) * (1 + 0.02 * rng.standard_normal(SIZES.size))
        regime = fit_line(series_of(SIZES, time))
        for place, (parameter, truth) in enumerate(zip(regime, (1e-6, 1e-10), strict=True)):
            hits[place] += holds(parameter, truth)
    # 95 % of 400 with a binomial standard deviation of 1.1 %: four of them either way.
    assert np.all(np.abs(hits / rounds - 0.95) < 0.044)


def fit_line(series: Series) -> tuple[Parameter, Parameter]:
    regime = fit("hockney", series).regimes[0]
    return regime.alpha_s, regime.beta_s_per_B


@pytest.mark.parametrize("model", ONE_LINE)
def test_one_size_is_no_line(model: str) -> None:
    with pytest.raises(RequestError, match="two message sizes"):
        fit(model, series_of(np.array([8.0]), np.array([1e-6])))


@pytest.mark.parametrize("model", ONE_LINE)
def test_two_sizes_are_met_without_an_interval_of_the_line_but_with_one_of_predictions(model: str) -> None:
    found = fit(model, series_of(np.array([1.0, 1e6]), np.array([1e-6, 1e-4])))
    assert found.regimes[0].beta_s_per_B.low is None
    assert found.quality is not None
    assert found.quality.leave_one_out_p95 is None
    # Nothing was left out: a prediction may be off by as much as the times differ.
    assert found.quality.prediction_factor == pytest.approx(100)
    alike = fit(model, series_of(np.array([1.0, 2.0]), np.array([1e-6, 1e-6])))
    assert not_none(alike.quality).prediction_factor == 2


def test_a_left_out_prediction_that_is_negative_widens_the_interval() -> None:
    size = np.array([0.0, 1000.0, 2000.0, 3000.0])
    time = np.array([1.0, 1.0, 1.0, 9.0]) * 1e-6
    found = fit("least_squares", series_of(size, time))
    # Without 0 B the line through (1000, 1), (2000, 1), (3000, 9) µs is at −4.33 µs there.
    assert interval(found, 3000.0) is not None
    # Ratios 9 (not positive), 2, 1.67 and 9 (from 1 µs): the 95 % quantile is 9.
    assert not_none(found.quality).prediction_factor == pytest.approx(9)


def test_asymptotic_rests_on_more_than_the_largest_size() -> None:
    found = fit("asymptotic", series_of(np.array([1, 1e4, 1e6]), np.array([1.0, 5.0, 1000.0]) * 1e-6))
    # By hand: the mean of 10 kB / 5 µs and 1 MB / 1 ms.
    assert found.parameters["bandwidth_B_per_s"].value == pytest.approx((2e9 + 1e9) / 2)


@given(
    st.lists(st.floats(1e-7, 1e-2), min_size=2, max_size=20),
    st.sampled_from(["hockney", "asymptotic"]),
)
def test_physical_models_are_never_negative(times: list[float], model: str) -> None:
    size = 4.0 ** np.arange(len(times))
    found = fit(model, series_of(size, np.array(times)))
    for parameter in (found.regimes[0].alpha_s, found.regimes[0].beta_s_per_B):
        assert parameter.value >= 0
        if parameter.low is not None and parameter.high is not None:
            # asymptotic's β is a reciprocal: equal ends may differ in the last bit.
            assert 0 <= parameter.low <= parameter.value * (1 + 1e-12)
            assert parameter.value <= parameter.high * (1 + 1e-12)
    assert np.all(predict(found, size) > 0)
    assert found.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("model", ONE_LINE)
def test_times_in_another_unit_scale_the_parameters(model: str) -> None:
    rng = np.random.default_rng(3)
    time = (1e-6 + SIZES * 1e-10) * np.exp(0.1 * rng.standard_normal(SIZES.size))
    one, thousand = fit(model, series_of(SIZES, time)), fit(model, series_of(SIZES, time * 1000))
    for name in ("alpha_s", "beta_s_per_B"):
        small, large = getattr(one.regimes[0], name), getattr(thousand.regimes[0], name)
        assert large.value == pytest.approx(1000 * small.value, rel=1e-9)
        assert large.high == pytest.approx(1000 * small.high, rel=1e-6)
