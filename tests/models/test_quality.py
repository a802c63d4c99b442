"""What a fit says of its errors, against errors of predictions that are made here one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import not_none

from hockney.models.base import models, predict
from hockney.records.series import Series

SIZES = np.array([0.0, *(2.0 ** np.arange(19))])


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("model", ["asymptotic", "hockney", "least_squares", "piecewise"])
def test_errors_are_those_of_the_fit_and_of_fits_without_each_point(model: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    time_s = np.where(SIZES <= 4096, 1e-6, 3e-6) + SIZES * 1e-10
    time_s = time_s * np.exp(0.1 * rng.standard_normal(SIZES.size))
    # Without intervals nothing is drawn anew, and a fit without a point is as whole as the fit.
    series, fit = Series({}, SIZES, time_s, time_s, time_s, 4096.0), models.get(model)
    quality = not_none(fit(series).quality)
    error = np.abs(predict(fit(series), SIZES) / time_s - 1)
    without = [predict(fit(series.take(size != SIZES)), size) for size in SIZES]
    unseen = np.abs(np.array(without) / time_s - 1)
    # Up to rounding; least squares of a curve of six decades loses some digits of its smallest times.
    assert quality.max_relative_error == pytest.approx(error.max(), rel=1e-9)
    assert quality.median_relative_error == pytest.approx(np.median(error), rel=1e-9)
    assert quality.p95_relative_error == pytest.approx(np.percentile(error, 95), rel=1e-9)
    assert quality.leave_one_out_median == pytest.approx(np.median(unseen), rel=1e-9)
    assert quality.leave_one_out_p95 == pytest.approx(np.percentile(unseen, 95), rel=1e-9)
