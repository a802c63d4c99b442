"""The baseline of the literature: for each algorithm, size and mapping a straight line in the number of ranks.

T(P) = a + bP by ordinary least squares, as students and tuning reports do it (document 004 of the project's
sources fits bcast and scatter latencies that way). Sizes that were not trained are not predicted.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from hockney.predict.estimators.base import Array, Fitted, Prediction, Training, estimators, unknown
from hockney.predict.points import GROWING, POINT, positions

GROUP = tuple(name for name in POINT if name not in GROWING)
"""What a line holds fixed."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Line:
    """T(P) = intercept_s + slope_s · P, with what the interval of a new point needs.

    `residual_s` is the standard error of the regression on `freedom` degrees of freedom (NaN with none).
    """

    intercept_s: float
    slope_s: float
    residual_s: float
    freedom: int
    mean: float
    squares: float
    """Σ (P − mean)² of the training ranks."""
    count: int

    def at(self, ranks: Array) -> tuple[Array, Array]:
        """Times in seconds and half widths of the 95 % prediction interval, for a new point each."""
        time_s = self.intercept_s + self.slope_s * ranks
        if self.freedom < 1:
            return time_s, np.full(ranks.shape, np.nan)
        quantile = stats.t.ppf(0.5 + CONFIDENCE / 2, self.freedom)
        lever = np.sqrt(1 + 1 / self.count + (ranks - self.mean) ** 2 / self.squares)
        return time_s, quantile * self.residual_s * lever


def line(ranks: Array, time_s: Array) -> Line | None:
    """Ordinary least squares of `time_s` on `ranks`, both of shape (n,); None where all ranks are equal."""
    mean = float(ranks.mean())
    squares = float(np.sum((ranks - mean) ** 2))
    if squares == 0:
        return None
    slope = float(np.sum((ranks - mean) * (time_s - time_s.mean()))) / squares
    intercept = float(time_s.mean()) - slope * mean
    freedom = ranks.size - 2
    left = float(np.sum((time_s - intercept - slope * ranks) ** 2))
    residual = float(np.sqrt(left / freedom)) if freedom > 0 else float("nan")
    return Line(intercept, slope, residual, freedom, mean, squares, ranks.size)


@dataclass(frozen=True)
class Lines:
    """A line for each group of training points that has two numbers of ranks."""

    lines: dict[Hashable, Line]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times along the lines, extrapolated as far as asked; NaN for groups without a line."""
        made = unknown(len(points))
        for key, index in positions(points, GROUP).items():
            found = self.lines.get(key)
            if found is None:
                continue
            time_s, half = found.at(points["ranks"].to_numpy(np.float64)[index])
            made.time_s[index] = time_s
            made.low_s[index] = time_s - half
            made.high_s[index] = time_s + half
        missing = int(np.isnan(made.time_s).sum())
        note = [f"{missing} points have no line: nothing, or one number of ranks, was trained at their size"]
        return Prediction(made.time_s, made.low_s, made.high_s, note if missing else None)


@estimators.register("linear_in_ranks")
def fit(training: Training) -> Fitted:
    """A line for each (algorithm, size, mapping, …) of the training points."""
    ranks = training.points["ranks"].to_numpy(np.float64)
    time_s = training.points["time_s"].to_numpy(np.float64)
    found = {key: line(ranks[index], time_s[index]) for key, index in positions(training.points, GROUP).items()}
    return Lines({key: one for key, one in found.items() if one is not None})
