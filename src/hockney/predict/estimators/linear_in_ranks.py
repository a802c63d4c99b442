"""The baseline of the literature: for each algorithm, size and mapping a straight line in the number of ranks.

T(P) = a + bP by ordinary least squares, as students and tuning reports do it. Sizes that were not trained are not
predicted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.predict.estimators._places import SLICE
from hockney.predict.estimators.base import Array, FittedEstimator, GroupModels, Training, estimators
from hockney.predict.points import positions, sliced
from hockney.statistics import LeastSquares, least_squares, t_reach

GROUP = (*SLICE, "bytes")
"""What a line holds fixed."""


@dataclass(frozen=True)
class RankLine:
    """T(P) = c₀ + c₁P, or c₀ alone."""

    fitted: LeastSquares

    def __call__(self, points: pd.DataFrame) -> tuple[Array, Array, Array]:
        """Times of points and the ends of their intervals, extrapolated without limit."""
        time_s, half = self.at(points["ranks"].to_numpy(np.float64))
        return time_s, np.maximum(time_s - half, 0.0), time_s + half

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
class Trend:
    """Lines that do not fall, for points on more ranks than were trained."""

    lines: GroupModels
    most_ranks: int

    @classmethod
    def of(cls, points: pd.DataFrame) -> Trend:
        """Of training points."""
        return cls(lines(points, may_fall=False), int(points["ranks"].max()))

    def at(self, points: pd.DataFrame) -> Array:
        """Seconds, shape (n,); NaN on no more ranks than were trained, and without a line."""
        return np.where(points["ranks"] > self.most_ranks, self.lines.predict(points).time_s, np.nan)


@estimators.register("linear_in_ranks")
def fit(training: Training) -> FittedEstimator:
    """A line for each (algorithm, size, mapping, …) of the training points."""
    return lines(training.points)


def lines(points: pd.DataFrame, *, may_fall: bool = True) -> GroupModels:
    """The same of points with the columns `predict.points.POINT` and `time_s`; `may_fall` as of `line`."""
    ranks, time_s = (points[name].to_numpy(np.float64) for name in ("ranks", "time_s"))
    groups = positions(sliced(points), GROUP)
    made = {key: line(ranks[index], time_s[index], may_fall=may_fall) for key, index in groups.items()}
    known = {key: fitted for key, fitted in made.items() if fitted is not None}
    return GroupModels(GROUP, known, "have no line: nothing, or one number of ranks, was trained at their size")
