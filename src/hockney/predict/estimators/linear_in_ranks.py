"""The baseline of the literature: for each algorithm, size and mapping a straight line in the number of ranks.

T(P) = a + bP by ordinary least squares, as students and tuning reports do it. Sizes that were not trained are not
predicted.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.predict.estimators.base import Array, FittedEstimator, Prediction, Training, estimators, unknown
from hockney.predict.points import GROWING, POINT, positions
from hockney.statistics import LeastSquares, least_squares, t_reach

GROUP = tuple(name for name in POINT if name not in GROWING)
"""What a line holds fixed."""


@dataclass(frozen=True)
class RankLine:
    """T(P) = c₀ + c₁P, or c₀ alone."""

    fitted: LeastSquares

    def at(self, ranks: Array) -> tuple[Array, Array]:
        """Times in seconds and half widths of the 95 % prediction interval, for a new point each."""
        rows = _design(ranks)[:, : self.fitted.value.size]
        time_s = rows @ self.fitted.value
        if self.fitted.freedom < 1:
            return time_s, np.full(ranks.shape, np.nan)
        error_s = self.fitted.noise * np.sqrt(1 + self.fitted.leverage(rows))
        return time_s, t_reach(error_s, self.fitted.freedom)


def line(ranks: Array, time_s: Array, *, may_fall: bool = True) -> RankLine | None:
    """Ordinary least squares of `time_s` on `ranks`, both of shape (n,); None where all ranks are equal.

    Where it may not fall, c₁ is never negative: that of a falling line is 0.
    """
    if np.all(ranks == ranks[0]):
        return None
    design = _design(ranks)
    fitted = least_squares(design, time_s)
    falls = not may_fall and fitted.value[1] < 0
    return RankLine(least_squares(design[:, :1], time_s) if falls else fitted)


def _design(ranks: Array) -> Array:
    return np.column_stack([np.ones_like(ranks), ranks])


@dataclass(frozen=True)
class RankLines:
    """A line for each group of training points that has two numbers of ranks."""

    lines: dict[Hashable, RankLine]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times along the lines, extrapolated without limit; NaN for groups without a line."""
        prediction = unknown(len(points))
        for key, index in positions(points, GROUP).items():
            fitted = self.lines.get(key)
            if fitted is None:
                continue
            time_s, half = fitted.at(points["ranks"].to_numpy(np.float64)[index])
            prediction.time_s[index] = time_s
            prediction.low_s[index] = time_s - half
            prediction.high_s[index] = time_s + half
        missing = int(np.isnan(prediction.time_s).sum())
        note = [f"{missing} points have no line: nothing, or one number of ranks, was trained at their size"]
        return Prediction(prediction.time_s, prediction.low_s, prediction.high_s, note if missing else None)


@estimators.register("linear_in_ranks")
def fit(training: Training) -> FittedEstimator:
    """A line for each (algorithm, size, mapping, …) of the training points."""
    return lines(training.points)


def lines(points: pd.DataFrame, *, may_fall: bool = True) -> RankLines:
    """The same of points with the columns `predict.points.POINT` and `time_s`; `may_fall` as of `line`."""
    ranks, time_s = (points[name].to_numpy(np.float64) for name in ("ranks", "time_s"))
    groups = positions(points, GROUP)
    made = {key: line(ranks[index], time_s[index], may_fall=may_fall) for key, index in groups.items()}
    return RankLines({key: fitted for key, fitted in made.items() if fitted is not None})
