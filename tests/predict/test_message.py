"""Predictions from a machine file whose pingpong is 0.2 µs + n / 10 GB/s, above 4 KiB 1 µs + n / 12.5 GB/s."""

from __future__ import annotations

import math

import pytest
from tests.factories import VERSION_1 as MACHINE

from hockney.errors import RequestError
from hockney.machine.file import Entry, load
from hockney.machine.select import select_entry
from hockney.predict.message import predict_message


def entry(operation: str = "pingpong", **asked: str) -> Entry:
    return select_entry(load(MACHINE), {"operation": operation, **asked})


@pytest.mark.parametrize(
    ("size_B", "expected_s"),
    [
        (0, 0.2e-6),
        (1000, 0.3e-6),  # 0.2 µs + 1000 B / 10 GB/s
        (4096, 0.6096e-6),  # the break belongs to the regime below
        (4097, 1e-6 + 4097 / 12.5e9),
        (125_000, 11e-6),  # 1 µs + 10 µs
    ],
)
def test_time_and_bandwidth_in_each_regime(size_B: int, expected_s: float) -> None:
    prediction = predict_message(entry(), size_B, "piecewise")
    # The file keeps 1/bandwidth as a binary number; nothing else is lost.
    assert prediction.time_s == pytest.approx(expected_s, rel=1e-12)
    assert prediction.bandwidth_B_per_s == pytest.approx(size_B / expected_s, rel=1e-12)
    assert not prediction.extrapolated
    assert prediction.factor is None
    assert prediction.remark == ""


AT_A_SIZE = math.sqrt(2) * math.hypot(math.log(1.01), 1.96 * 0.025)
"""The file's points lie on the fit, ±1 %; both campaigns drift by 2.5 %, and either may be off."""


def of_launches(one_launch: Entry) -> Entry:
    """The entry as if its points were those of several launches."""
    several = one_launch.model_copy(deep=True)
    for point in several.measurements.points:
        point.freedom = 10.0
    return several


@pytest.mark.parametrize(
    ("size_B", "reach"),
    [
        (4096, AT_A_SIZE),
        # 0.774 of the way from 8 B to 4 KiB: a Brownian bridge of deviation 1 in the middle has 0.836 there.
        (1000, math.hypot(AT_A_SIZE, 0.8364 * math.log(1.1))),
        (181, math.hypot(AT_A_SIZE, math.log(1.1))),
    ],
    ids=["measured", "between", "middle"],
)
def test_at_sizes_of_several_launches_the_interval_is_that_of_the_measurement(size_B: int, reach: float) -> None:
    prediction = predict_message(of_launches(entry()), size_B, "piecewise")
    assert prediction.low_s is not None
    assert prediction.high_s is not None
    assert math.log(prediction.time_s / prediction.low_s) == pytest.approx(reach, rel=5e-3)
    assert math.log(prediction.high_s / prediction.time_s) == pytest.approx(reach, rel=5e-3)


def test_the_interval_holds_a_measured_time_that_the_fit_misses() -> None:
    missed = of_launches(entry())
    [point] = [point for point in missed.measurements.points if point.size_B == 4096]
    point.time_s, point.low_s, point.high_s = 1.2 * point.time_s, 1.19 * point.time_s, 1.21 * point.time_s
    prediction = predict_message(missed, 4096, "piecewise")
    assert prediction.high_s is not None
    assert prediction.high_s > point.high_s
    assert prediction.low_s == pytest.approx(prediction.time_s), "nothing says that it was faster"


def test_among_the_measured_sizes_the_formula_is_corrected() -> None:
    missed = entry().model_copy(deep=True)
    fit = missed.fits["piecewise"]
    assert fit.quality is not None
    fit.quality.correction_weight = 0.5
    for point in missed.measurements.points:
        point.time_s *= 1.0404
    found = predict_message(missed, 4096, "piecewise")
    assert found.readable_s == pytest.approx(0.6096e-6)
    assert found.weight == 0.5
    assert found.correction == pytest.approx(0.02)
    assert found.time_s == pytest.approx(1.02 * 0.6096e-6)
    assert found.bandwidth_B_per_s == pytest.approx(4096 / found.time_s)
    beyond = predict_message(missed, 4 * 1048576, "piecewise")
    assert (beyond.weight, beyond.correction, beyond.time_s) == (0.0, 0.0, beyond.readable_s)


def test_without_such_points_there_is_no_interval() -> None:
    bare = entry()
    bare.fits["piecewise"].quality = None
    prediction = predict_message(bare, 1000, "piecewise")
    assert (prediction.low_s, prediction.high_s) == (None, None)


def test_beyond_the_largest_size_it_says_how_far() -> None:
    prediction = predict_message(entry(), 4 * 1048576, "piecewise")
    assert prediction.extrapolated
    assert prediction.factor == 4
    assert prediction.remark == "4 × beyond the largest measured size"
    # One step of 4 beyond: the interval's factor of 1.1 counts twice.
    assert prediction.high_s == pytest.approx(prediction.time_s * 1.1**2)
    assert prediction.low_s == pytest.approx(prediction.time_s / 1.1**2)
    assert not predict_message(entry(), 1048576, "piecewise").extrapolated


def test_below_the_smallest_size_it_says_so() -> None:
    prediction = predict_message(entry("bandwidth", window="64"), 2, "piecewise")
    assert prediction.extrapolated
    assert prediction.factor == 0.25
    assert prediction.remark == "below the smallest measured size"


def test_beyond_a_series_of_empty_messages_only() -> None:
    bare = entry()
    bare.measurements.points = [point for point in bare.measurements.points if point.size_B == 0]
    prediction = predict_message(bare, 8, "piecewise")
    assert prediction.extrapolated
    assert prediction.factor is None
    assert prediction.remark == "beyond the largest measured size"


def test_both_directions_count_in_bidirectional() -> None:
    prediction = predict_message(entry("bidirectional"), 1000, "piecewise")
    assert prediction.time_s == pytest.approx(0.3e-6)
    assert prediction.bandwidth_B_per_s == pytest.approx(2 * 1000 / 0.3e-6)


@pytest.mark.parametrize(
    ("size_B", "model", "why"),
    [
        (-1, "piecewise", "-1 B does not exist"),
        (2**63, "piecewise", "more than MPI can count"),
        # The least-squares line of the file starts at −113 µs.
        (8, "least_squares", "not physical"),
    ],
)
def test_what_has_no_time_is_refused(size_B: int, model: str, why: str) -> None:
    assert predict_message(entry(), 2**63 - 1, "piecewise").time_s > 0
    with pytest.raises(RequestError, match=why):
        predict_message(entry(), size_B, model)


def test_a_message_that_takes_no_time_has_no_spread() -> None:
    free = entry().model_copy(deep=True)
    fit = free.fits["piecewise"]
    fit.regimes[0].alpha_s = fit.regimes[0].alpha_s.model_copy(update={"value": 0.0, "low": 0.0})
    found = predict_message(free, 0, "piecewise")
    assert fit.quality is not None
    assert fit.quality.prediction_factor is not None
    assert (found.time_s, found.low_s, found.high_s) == (0, 0, 0)


def test_a_model_that_was_not_fitted_says_why_and_lists_the_others() -> None:
    with pytest.raises(RequestError, match=r"'loggp' is not fitted .*: no send_overhead was measured") as caught:
        predict_message(entry(), 8, "loggp")
    assert caught.value.hint == "fitted: hockney, least_squares, piecewise"
