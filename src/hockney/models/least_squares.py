"""Plain least squares of T = a + bn, as the literature does it: absolute residuals, ruled by the largest message.

It may give a negative latency (sources of the field report −113 µs); it is kept for comparison and flagged.
"""

from __future__ import annotations

import numpy as np

from hockney.models._lines import one_line, reciprocal, sizes_and_times
from hockney.models.base import Fit, Parameter, models
from hockney.records.series import Series
from hockney.statistics import Array, LeastSquares, least_squares, t_reach


def _solved(size_B: Array, time_s: Array) -> LeastSquares:
    return least_squares(np.column_stack([np.ones_like(size_B), size_B]), time_s)


def _lines(size_B: Array, time_s: Array) -> tuple[Array, Array]:
    mean_B, mean_s = size_B.mean(axis=-1), time_s.mean(axis=-1)
    away_B = size_B - mean_B[:, None]
    slope_s_per_B = np.sum(away_B * (time_s - mean_s[:, None]), axis=-1) / np.sum(away_B**2, axis=-1)
    return mean_s - slope_s_per_B * mean_B, slope_s_per_B


@models.register("least_squares")
def fit(series: Series) -> Fit:
    """Ordinary least squares with its t-intervals; RequestError for fewer than two sizes."""
    size, time = sizes_and_times(series, "least_squares")
    line = _solved(size, time)
    alpha, beta = (
        Parameter(value=float(value), unit=unit) for value, unit in zip(line.value, ("s", "s/B"), strict=True)
    )
    if line.freedom > 0:
        widths = t_reach(line.noise * line.errors, line.freedom)
        for parameter, width in zip((alpha, beta), widths, strict=True):
            parameter.low, parameter.high = float(parameter.value - width), float(parameter.value + width)
    negative = [word for word, value in (("latency", alpha.value), ("slope", beta.value)) if value < 0]
    fitted = one_line("least_squares", series, alpha, beta, reciprocal(beta, "B/s"), _lines)
    fitted.nonphysical = bool(negative)
    fitted.notes = [f"the {word} is negative, which no message can be" for word in negative]
    return fitted
