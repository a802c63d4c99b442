"""The piecewise model finds regimes that are there, stays physical, and tiles all sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.factories import not_none

from hockney.errors import RequestError
from hockney.models.base import Fit, corrected, models, predict
from hockney.records.series import Series

SIZES = np.array([0.0, *(2.0 ** np.arange(23))])


def series_of(size_B: np.ndarray, time_s: np.ndarray, width: float | np.ndarray = 0.0) -> Series:
    return Series({}, size_B, time_s, time_s * (1 - width), time_s * (1 + width))


def fit(size_B: np.ndarray, time_s: np.ndarray, eager_limit_B: float | None = None, width: float = 0.0) -> Fit:
    return models.get("piecewise")(replace(series_of(size_B, time_s, width), eager_limit_B=eager_limit_B))


def answer(size_B: np.ndarray, time_s: np.ndarray, asked_B: np.ndarray) -> np.ndarray:
    """As `hockney predict` answers."""
    return corrected(fit(size_B, time_s), asked_B, series_of(size_B, time_s))


def assert_tiles(found: Fit) -> None:
    assert found.regimes[0].min_B == 0
    assert found.regimes[-1].max_B is None
    for one, after in zip(found.regimes, found.regimes[1:], strict=False):
        assert one.max_B == after.min_B
        assert one.min_B < after.min_B


def test_one_line_stays_one_regime() -> None:
    found = fit(SIZES, 1e-6 + SIZES * 1e-10)
    assert len(found.regimes) == 1
    assert found.regimes[0].alpha_s.value == pytest.approx(1e-6, rel=1e-9)
    assert found.regimes[0].beta_s_per_B.value == pytest.approx(1e-10, rel=1e-9)


def test_two_lines_that_meet_are_both_recovered_with_their_break() -> None:
    # 1 µs + n/1 GB/s and 4 µs + n/4 GB/s meet at 3 µs / 0.75 ns = 4000 B, between two measured sizes.
    time = np.minimum(1e-6 + SIZES * 1e-9, 4e-6 + SIZES * 0.25e-9)
    found = fit(SIZES, time)
    assert [regime.alpha_s.value for regime in found.regimes] == pytest.approx([1e-6, 4e-6], rel=1e-6)
    assert [regime.beta_s_per_B.value for regime in found.regimes] == pytest.approx([1e-9, 0.25e-9], rel=1e-6)
    assert found.regimes[0].max_B == pytest.approx(4000, rel=1e-6)
    assert np.allclose(predict(found, SIZES), time, rtol=1e-9)


def test_a_jump_between_close_sizes_is_a_break_between_them() -> None:
    size = np.unique([*SIZES, 8192, 8256])
    time = np.where(size <= 8192, 1e-6 + size * 2e-10, 5e-6 + size * 1e-10)
    found = fit(size, time)
    assert len(found.regimes) == 2
    assert 8192 <= not_none(found.regimes[0].max_B) < 8256
    assert np.allclose(predict(found, size), time, rtol=1e-9)


def test_between_two_regimes_the_answer_is_nearly_interpolation() -> None:
    size = 4.0 ** np.arange(12)
    time = np.where(size <= 1024, 1e-6 + size * 1e-10, 1.4e-6 + size * 1e-10)
    asked = np.array([1024.0, 2048.0, 4096.0])
    found = answer(size, time, asked)
    between = np.interp(asked, size, time)
    # One tenth is the line's, which misses by no more than the jump of 40 %.
    assert found == pytest.approx(between, rel=1.4**0.1 - 1)
    assert found[[0, 2]] == pytest.approx(between[[0, 2]], rel=1e-9)
    assert found[0] < found[1] < found[2]


def test_the_answer_follows_a_size_whose_visits_say_that_no_line_goes_through_it() -> None:
    time = 1e-6 + SIZES * 1e-10
    place = SIZES.size // 2
    time[place] *= 1.5
    for width, share in ((0.02, 1.0), (0.6, 0.5)):
        measured = series_of(SIZES, time, width)
        found = models.get("piecewise")(measured)
        assert len(found.regimes) == 1
        line = float(predict(found, SIZES[place]))
        made = float(corrected(found, SIZES[place], measured))
        assert np.log(made / line) == pytest.approx(share * np.log(time[place] / line), rel=1e-6)


def test_noise_makes_no_regimes() -> None:
    rng = np.random.default_rng(11)
    counts = []
    for _ in range(20):
        time = (1e-6 + SIZES * 1e-10) * (1 + 0.01 * rng.standard_normal(SIZES.size))
        counts.append(len(fit(SIZES, time).regimes))
    # One point in 24 at three standard deviations may now and then earn a regime; more would be fitting noise.
    assert np.mean(counts) < 1.3


def test_stated_intervals_that_are_wide_stop_the_search_for_regimes() -> None:
    rng = np.random.default_rng(11)
    time = (1e-6 + SIZES * 1e-10) * (1 + 0.1 * rng.standard_normal(SIZES.size))
    assert len(fit(SIZES, time, width=0.2).regimes) == 1
    assert len(fit(SIZES, time, width=0.0).regimes) > 1


@pytest.mark.parametrize(("scatter", "width"), [(0.01, 0.0), (0.0, 0.1)], ids=["scatter", "stated"])
def test_parameters_are_as_uncertain_as_the_worse_of_scatter_and_stated_intervals(
    scatter: float, width: float
) -> None:
    true_s = 1e-6 + SIZES * 1e-10
    signs = np.where(np.arange(SIZES.size) % 2, 1.0, -1.0)
    latency = fit(SIZES, true_s * (1 + scatter * signs), width=width).regimes[0].alpha_s
    # Least squares of relative errors: the covariance is noise² (XᵀX)⁻¹, with a column for ln α and one for ln β.
    columns = np.array([1e-6 / true_s, SIZES * 1e-10 / true_s]).T
    noise = max(scatter, width / 1.96)
    reach = (
        2.074 * noise * np.sqrt(np.linalg.inv(columns.T @ columns)[0, 0])
    )  # Student's t, 22 degrees of freedom
    assert np.log(not_none(latency.high) / not_none(latency.low)) / 2 == pytest.approx(reach, rel=0.15)


def test_what_moves_the_largest_messages_does_not_widen_the_latency() -> None:
    true_s = 1e-6 + SIZES * 1e-10
    is_large = SIZES > 4000
    signs = np.where(np.arange(SIZES.size) % 2, 1.0, -1.0)
    time_s = true_s * (1 + np.where(is_large, 0.15, 0.005) * signs)
    low_s, high_s = time_s / (1 + np.where(is_large, 0.3, 0.01)), time_s * (1 + np.where(is_large, 0.3, 0.01))
    fitted = models.get("piecewise")(Series({}, SIZES, time_s, low_s, high_s))
    latency, slope = fitted.regimes[0].alpha_s, fitted.regimes[-1].beta_s_per_B
    # The latency rests on a dozen small sizes that are off by half a percent, the slope on eleven large ones, by
    # 15 %: 4.5 % of standard error, less by what the small ones say of it.
    assert not_none(latency.high) / not_none(latency.low) < 1.03
    assert not_none(slope.high) / not_none(slope.low) > 1.06


CURVES = st.integers(2, 25).flatmap(
    lambda count: st.tuples(
        st.lists(st.integers(0, 2**26), min_size=count, max_size=count, unique=True),
        st.lists(st.floats(1e-7, 1e-1), min_size=count, max_size=count),
    )
)


# Found by hypothesis: a steep first stretch must not make an empty message free.
EMPTY_IS_NOT_FREE = (list(range(5)), [0.0625, 0.0039, 0.0625, 0.0156, 0.0625])


@settings(max_examples=60)
@example(EMPTY_IS_NOT_FREE, None)
@given(CURVES, st.one_of(st.none(), st.integers(1, 2**20).map(float)))
def test_whatever_the_points_the_fit_is_physical(
    curve: tuple[list[int], list[float]], limit: float | None
) -> None:
    size, time = np.sort(np.array(curve[0], dtype=float)), np.array(curve[1])
    found = fit(size, time, limit)
    assert_tiles(found)
    assert 1 <= len(found.regimes) <= max(1, min(5, size.size // 3))
    assert not found.nonphysical
    for regime in found.regimes:
        assert regime.alpha_s.value >= 0
        assert regime.beta_s_per_B.value >= 0
        for parameter in (regime.alpha_s, regime.beta_s_per_B):
            if parameter.low is not None and parameter.high is not None:
                assert 0 <= parameter.low <= parameter.value <= parameter.high
    asked = np.union1d(size, np.linspace(size[0], 2 * size[-1], 99))
    assert np.all(corrected(found, asked, series_of(size, time)) > 0)
    assert found.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("factor", [2.0**-10, 1000.0])
def test_times_in_another_unit_change_no_break(factor: float) -> None:
    rng = np.random.default_rng(4)
    time = np.where(SIZES <= 4096, 1e-6 + SIZES * 3e-10, 3e-6 + SIZES * 1e-10)
    time = time * (1 + 0.01 * rng.standard_normal(SIZES.size))
    one, other = fit(SIZES, time), fit(SIZES, time * factor)
    assert len(one.regimes) == len(other.regimes) > 1
    for mine, scaled in zip(one.regimes, other.regimes, strict=True):
        assert scaled.alpha_s.value == pytest.approx(factor * mine.alpha_s.value, rel=1e-9, abs=1e-30)
        assert scaled.beta_s_per_B.value == pytest.approx(factor * mine.beta_s_per_B.value, rel=1e-9, abs=1e-30)
        assert scaled.min_B == pytest.approx(mine.min_B, rel=1e-9)


def test_half_the_bandwidth_is_reached_where_it_says() -> None:
    found = fit(SIZES, np.minimum(1e-6 + SIZES * 1e-9, 4e-6 + SIZES * 0.25e-9))
    size = not_none(found.n_half_B).value
    assert size / float(predict(found, size)) == pytest.approx(0.5 / 0.25e-9, rel=1e-6)


def test_a_long_series_is_thinned_and_says_so() -> None:
    size = np.arange(0, 300) * 1000.0
    found = fit(size, 1e-6 + size * 1e-10)
    assert not_none(found.quality).points == 300
    assert any("96 of 300" in note for note in found.notes)


def test_one_size_is_refused() -> None:
    with pytest.raises(RequestError, match="two message sizes"):
        fit(np.array([8.0]), np.array([1e-6]))


@pytest.mark.parametrize("place", range(0, SIZES.size, 3))
@pytest.mark.parametrize("factor", [0.4, 1.3, 3.0])
def test_one_disturbed_size_makes_no_regime_and_bends_none(place: int, factor: float) -> None:
    time = 1e-6 + SIZES * 1e-10
    time[place] *= factor
    found = fit(SIZES, time)
    assert len(found.regimes) == 1
    # Exact up to rounding: the disturbed size had no say.
    assert found.regimes[0].alpha_s.value == pytest.approx(1e-6, rel=1e-9)
    assert found.parameters["bandwidth_B_per_s"].value == pytest.approx(1e10, rel=1e-9)
    assert [note for note in found.notes if "outlier" in note and f"{factor:.3g} times" in note] == found.notes


@pytest.mark.parametrize("factor", [0.85, 1.2])
def test_an_empty_message_on_a_path_of_its_own_bends_no_line_and_is_answered_as_measured(factor: float) -> None:
    time = 1e-6 + SIZES * 1e-10
    time[0] *= factor
    measured = series_of(SIZES, time, 0.01)
    found = models.get("piecewise")(measured)
    assert len(found.regimes) == 1
    assert found.parameters["latency_s"].value == pytest.approx(1e-6, rel=1e-9)
    assert float(corrected(found, 0.0, measured)) == pytest.approx(time[0], rel=1e-9)
    assert any(note.startswith("0 B is an outlier") for note in found.notes)


@pytest.mark.thorough
def test_a_disturbed_size_beside_noise_rarely_makes_a_regime() -> None:
    rng = np.random.default_rng(7)
    more = 0
    for place in range(SIZES.size):
        for factor in (0.5, 1.5, 4.0):
            time = (1e-6 + SIZES * 1e-10) * (1 + 0.01 * rng.standard_normal(SIZES.size))
            time[place] *= factor
            more += len(fit(SIZES, time).regimes) > 1
    # As for noise alone: a deviation of three standard deviations may happen to extend the disturbance.
    assert more <= 0.05 * 3 * SIZES.size


@pytest.mark.parametrize("height", [1.3, 2.0, 8.0, 0.6])
@pytest.mark.parametrize("place", [3, 7, 12, 17, 20])
def test_a_break_with_three_sizes_on_either_side_is_found_within_its_gap(place: int, height: float) -> None:
    size = 2.0 ** np.arange(23)
    time = (1e-6 + size * 1e-10) * np.where(np.arange(23) < place, 1.0, height)
    found = fit(size, time)
    assert len(found.regimes) == 2
    assert size[place - 1] <= not_none(found.regimes[0].max_B) < size[place]
    assert np.allclose(predict(found, size), time, rtol=1e-9)


@pytest.mark.parametrize("highest", [3.0, pytest.param(12.0, marks=pytest.mark.thorough)])
def test_a_gap_that_a_jump_crosses_is_predicted_no_worse_than_by_interpolation(highest: float) -> None:
    size = 4.0 ** np.arange(12)
    rng = np.random.default_rng(2)
    ours, between = [], []
    for _ in range(60):
        place, height = rng.integers(3, 9), rng.uniform(1.2, highest)
        limit_B = size[place - 1] * 4 ** rng.uniform()
        inside = size[place - 1] * 4 ** np.array([0.25, 0.5, 0.75])
        line, inside_line = (1e-6 + n * 1e-10 for n in (size, inside))
        time = line * np.where(size <= limit_B, 1.0, height)
        truth = inside_line * np.where(inside <= limit_B, 1.0, height)
        ours.append(np.abs(answer(size, time, inside) / truth - 1))
        between.append(np.abs(np.interp(inside, size, time) / truth - 1))
    assert np.mean(ours) <= np.mean(between)
    assert np.percentile(ours, 95) <= np.percentile(between, 95)


def test_a_rise_at_the_largest_size_alone_does_not_set_the_bandwidth() -> None:
    time = 1e-6 + SIZES * 1e-10
    time[-1] *= 5
    once = fit(SIZES, time)
    time[-3:-1] *= 5
    thrice = fit(SIZES, time)
    assert once.parameters["bandwidth_B_per_s"].value == pytest.approx(1e10)
    # Three sizes that agree lie on 5 · (1 µs + n · 0.1 ns/B).
    assert thrice.parameters["bandwidth_B_per_s"].value == pytest.approx(2e9)


def test_a_break_that_the_visits_do_not_bear_out_is_left_out_and_said() -> None:
    # Standard errors of 5 %: a step of 10 % is two of them, one of 50 % is ten.
    low, high = (np.where(SIZES <= 256, 1e-6, height * 1e-6) + SIZES * 1e-10 for height in (1.1, 1.5))
    unsure, sure = fit(SIZES, low, width=1.96 * 0.05), fit(SIZES, high, width=1.96 * 0.05)
    assert len(unsure.regimes) == 1
    assert any("recurred in" in note and "left out" in note for note in unsure.notes)
    assert len(sure.regimes) == 2
    assert not any("left out" in note for note in sure.notes)


def test_a_size_of_which_the_visits_say_little_has_little_say() -> None:
    time = 1e-6 + SIZES * 1e-10
    width = np.full(SIZES.size, 0.01)
    time[8:12] *= 1.5
    width[8:12] = 0.5
    found = models.get("piecewise")(Series({}, SIZES, time, time * (1 - width), time * (1 + width)))
    assert len(found.regimes) == 1
    # Four points of weight (2 % / 25.5 %)², 50 % too high, among twenty of weight 1: well below 1 %.
    assert found.regimes[0].alpha_s.value == pytest.approx(1e-6, rel=0.01)
    assert len(fit(SIZES, time, width=0.01).regimes) > 1


def test_a_jump_between_neighbouring_integers_is_a_break_there() -> None:
    size = np.array([0.0, 100, 400, 1000, 1600, 2000, 2001, 2400, 4000, 8000, 16000, 32000])
    time = np.where(size <= 2000, 1e-6, 1.4e-6) + size * 1e-10
    found = fit(size, time)
    assert len(found.regimes) == 2
    assert 2000 <= (found.regimes[0].max_B or 0) < 2001


def test_the_last_regime_grows_even_when_the_last_times_are_equal() -> None:
    size = np.array([0.0, 64, 1024, 16384, 262144, 1048576, 4194304])
    time = np.array([1e-6, 1.01e-6, 1.1e-6, 2.6e-6, 27e-6, 100e-6, 100e-6])
    found = fit(size, time)
    assert found.regimes[-1].beta_s_per_B.value > 0
    assert float(predict(found, 16 * 4194304)) > 2 * float(predict(found, 4194304))
