"""What cannot be simulated grows, from the nearest measured ranks, as the fastest that can."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hockney.predict.estimators.base import Prediction
from hockney.predict.points import POINT

completed = runpy.run_path(str(Path(__file__).resolve().parents[2] / "bench" / "choice"))["completed"]
NAN = np.nan


def points(*rows: tuple[str, int]) -> pd.DataFrame:
    frame = pd.DataFrame([{"algorithm": name, "bytes": size_B, "ranks": 64} for name, size_B in rows])
    return frame.reindex(columns=list(POINT))


def prediction(time_s: list[float], factor: float = 2.0) -> Prediction:
    made = np.array(time_s)
    return Prediction(made, made / factor, made * factor)


def test_it_grows_as_the_fastest_that_is_known_in_the_same_instance() -> None:
    rows = points(("a", 8), ("b", 8), ("c", 8), ("theirs", 8), ("a", 64), ("theirs", 64))
    predicted = prediction([16.0, 6.0, 8.0, NAN, 10.0, NAN])
    nearest_s = np.array([1.0, 2.0, 4.0, 5.0, 1.0, 7.0])
    # Of 8 B the fastest, b, takes 3 times as long as there: neither the least growth nor the fastest there.
    result = completed(rows, predicted, nearest_s)
    np.testing.assert_allclose(result.time_s, [16, 6, 8, 15, 10, 70])
    np.testing.assert_allclose(result.low_s[[3, 5]], [7.5, 35])
    np.testing.assert_allclose(result.high_s[[3, 5]], [30, 140])
    assert np.isnan(predicted.time_s[3]), "what was given is not changed"


def test_its_interval_is_as_wide_as_the_widest_beside_it() -> None:
    rows = points(("a", 8), ("b", 8), ("theirs", 8))
    time_s = np.array([1.0, 1.0, NAN])
    predicted = Prediction(time_s, time_s / [2.0, 5.0, 1.0], time_s * [2.0, 5.0, 1.0])
    result = completed(rows, predicted, np.ones(3))
    assert (result.low_s[2], result.high_s[2]) == pytest.approx((0.2, 5.0))


def test_where_nothing_is_predicted_all_stay_as_they_were() -> None:
    result = completed(points(("a", 8), ("b", 8)), prediction([NAN, NAN]), np.array([3.0, 4.0]))
    np.testing.assert_allclose(result.time_s, [3, 4])
    assert np.isnan(result.low_s).all()
    assert np.isnan(result.high_s).all()


def test_what_was_never_measured_stays_unknown() -> None:
    rows = points(("a", 8), ("theirs", 8), ("a", 64), ("theirs", 64))
    # Of 8 B nobody measured theirs, of 64 B not what is predicted.
    result = completed(rows, prediction([2.0, NAN, 2.0, NAN]), np.array([1.0, NAN, NAN, 1.0]))
    assert np.isnan(result.time_s[[1, 3]]).all()
