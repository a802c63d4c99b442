"""Weighted least squares on medians with intervals, as the models of effects need it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from hockney.campaign.effect_record import EffectRecord

Array = NDArray[np.float64]
SCATTER = 0.05
"""Relative error that a simple model has anyway: a point's own noise counts beyond that."""
NO_INTERVAL = 0.5
"""Relative error of a point with too few samples for an interval."""
LEVEL = 0.975


@dataclass(frozen=True)
class Line:
    """A fitted linear model: coefficients, their 95 % intervals, AICc, and its times at the points."""

    value: Array
    low: Array
    high: Array
    aicc: float
    fitted: Array


def times_s(records: Sequence[EffectRecord]) -> Array:
    """The medians in seconds, one for each record."""
    return np.array([float(one.answer["time_s"]) for one in records])


def relative_errors(records: Sequence[EffectRecord]) -> Array:
    """One standard error of each median, relative: from its 95 % interval, and at least SCATTER.

    From the logarithm of the interval's ends: a median that was disturbed has one that spans decades.
    """
    noise = [
        math.log(one.answer["high_s"] / one.answer["low_s"]) / (2 * 1.96)
        if one.answer.get("low_s")
        else NO_INTERVAL
        for one in records
    ]
    return np.hypot(SCATTER, np.array(noise))


def line(design: Array, time_s: Array, relative_error: Array) -> Line:
    """Least squares of design (points × terms) · x = time, residuals relative to the times' errors.

    The intervals are those of the covariance with Student's t, the scatter taken from the residuals (inf with no
    degree of freedom left). AICc: Burnham and Anderson, Model Selection and Multimodel Inference, 2002, eq. 2.4.
    """
    weight = 1 / (time_s * relative_error)
    a, b = design * weight[:, None], time_s * weight
    points, terms = design.shape
    value, *_ = np.linalg.lstsq(a, b, rcond=None)
    square = float(np.sum((a @ value - b) ** 2))
    freedom = points - terms
    scatter = square / freedom if freedom > 0 else math.inf
    covariance = np.linalg.pinv(a.T @ a)
    half = student.ppf(LEVEL, max(freedom, 1)) * np.sqrt(scatter * np.diag(covariance))
    return Line(value, value - half, value + half, _aicc(square, points, terms), design @ value)


def _aicc(square: float, points: int, terms: int) -> float:
    k = terms + 1
    if points - k - 1 <= 0:
        return math.inf
    # Residuals below a thousandth of their errors say nothing more about the model.
    mean = max(square / points, 1e-6)
    return points * math.log(mean) + 2 * k + 2 * k * (k + 1) / (points - k - 1)
