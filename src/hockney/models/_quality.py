"""How well a model does on its points, and on points it has not seen (leave one out)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hockney.models._linear import PiecewiseLine
from hockney.models.base import Quality
from hockney.statistics import Array, least_absolute_share

LEAVE_OUT_WORK = 4e6
"""Refits of a long series are rationed: the cost of a piecewise fit grows as the cube of the points."""

UNKNOWN = 2.0
"""The factor of a prediction interval where the points are too few to say one."""


def assess(
    size_B: Array, time_s: Array, estimate: Callable[[Array, Array], PiecewiseLine], parameters: int
) -> Quality:
    """Quality of `estimate` on points of shape (N,); `parameters` counts what it fits beside the constant."""
    predicted = estimate(size_B, time_s).at(size_B)
    error = np.abs(predicted - time_s) / time_s
    left_out = _left_out(size_B, time_s, estimate)
    unseen = (
        None if left_out is None else np.abs(left_out.predicted_s - left_out.measured_s) / left_out.measured_s
    )
    return Quality(
        points=size_B.size,
        median_relative_error=float(np.median(error)),
        p95_relative_error=float(np.percentile(error, 95)),
        max_relative_error=float(error.max()),
        adjusted_r2=_adjusted_r2(time_s, predicted, parameters),
        leave_one_out_median=None if unseen is None else float(np.median(unseen)),
        leave_one_out_p95=None if unseen is None else float(np.percentile(unseen, 95)),
        prediction_factor=_factor(time_s, left_out),
        correction_weight=None if left_out is None else left_out.weight(),
    )


@dataclass(frozen=True)
class _LeftOut:
    """Times of points left out one at a time, arrays of shape (n,): as the model predicts them from the others,
    on the line between their neighbours (NaN for the first and the last size), and as measured."""

    predicted_s: Array
    between_s: Array
    measured_s: Array

    def weight(self) -> float:
        """The weight of interpolation with the least error."""
        both = (self.predicted_s > 0) & (self.between_s > 0)
        missed = np.log(self.measured_s[both] / self.predicted_s[both])
        return least_absolute_share(missed, np.log(self.between_s[both] / self.predicted_s[both]))


def _left_out(size_B: Array, time_s: Array, estimate: Callable[[Array, Array], PiecewiseLine]) -> _LeftOut | None:
    """None with fewer than three points."""
    count = size_B.size
    if count < 3:
        return None
    rounds = int(np.clip(LEAVE_OUT_WORK / count**3, min(8, count), count))
    chosen = np.unique(np.linspace(0, count - 1, rounds).round().astype(int))
    predicted_s, between_s = np.empty(chosen.size), np.empty(chosen.size)
    for i, index in enumerate(chosen):
        others = np.delete(size_B, index), np.delete(time_s, index)
        predicted_s[i] = estimate(*others).at(size_B[index : index + 1])[0]
        between_s[i] = np.interp(size_B[index], *others, left=np.nan, right=np.nan)
    return _LeftOut(predicted_s, between_s, time_s[chosen])


def _factor(time_s: Array, left_out: _LeftOut | None) -> float:
    """The factor either way that holds 95 % of the points left out.

    A prediction that is not positive is off by as much as the times of the curve differ, or as the worst of the
    others if that is more. So are all predictions where no point can be left out, and by `UNKNOWN` at least.
    """
    most = float(np.log(time_s.max() / time_s.min()))
    if left_out is None:
        return max(UNKNOWN, float(np.exp(most)))
    predicted, measured = left_out.predicted_s, left_out.measured_s
    positive = predicted > 0
    off = np.abs(np.log(np.where(positive, predicted, measured) / measured))
    off[~positive] = max(most, float(off.max()))
    return float(np.exp(np.percentile(off, 95)))


def _adjusted_r2(time_s: Array, predicted: Array, parameters: int) -> float | None:
    freedom = time_s.size - parameters - 1
    spread = float(np.sum((time_s - time_s.mean()) ** 2))
    if freedom < 1 or spread == 0:
        return None
    residual = float(np.sum((time_s - predicted) ** 2))
    return 1 - residual / spread * (time_s.size - 1) / freedom
