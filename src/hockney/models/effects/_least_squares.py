"""Weighted least squares on medians with intervals, as the models of effects need it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from hockney.records.effect_record import EffectRecord

Array = NDArray[np.float64]
SCATTER = 0.05
"""Relative error that a simple model has anyway: a point's own noise counts beyond that."""
NO_INTERVAL = 0.5
"""Relative error of a point with too few samples for an interval."""
LEVEL = 0.975
ROUNDS = 8
LEAST_SHARE = 1e-3
"""Of a time, that a model is taken to be at least while its weights are found."""


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
    return np.array([relative_error(one.answer.get("low_s"), one.answer.get("high_s")) for one in records])


def relative_error(low_s: float | None, high_s: float | None) -> float:
    """`relative_errors` of one median with this interval."""
    return math.hypot(SCATTER, math.log(high_s / low_s) / (2 * 1.96) if low_s and high_s else NO_INTERVAL)


def is_disturbed(record: EffectRecord) -> bool:
    """Whether the median's interval spans a factor of two, or there is none."""
    low_s = record.answer.get("low_s")
    return not low_s or float(record.answer["high_s"]) > 2 * float(low_s)


def solve(
    by: Callable[[Array, Array], Array], design: Array, time_s: Array, relative_error: Array
) -> tuple[Array, Array]:
    """(coefficients, weights) of design · x = time by the solver of a weighted problem.

    Residuals relative to the time alone let a model that is far too low go at the price of one; relative to the
    mean of time and model, m − t over √(m t) = 2 sinh(½ ln m/t), a factor counts the same up and down.
    """
    model_s = time_s
    for _ in range(ROUNDS):
        weight = 1 / (relative_error * np.sqrt(time_s * model_s))
        value = by(design * weight[:, None], time_s * weight)
        model_s = np.maximum(design @ value, LEAST_SHARE * time_s)
    return value, weight


def line(design: Array, time_s: Array, relative_error: Array, chosen: int = 0) -> Line:
    """Least squares of design (points × terms) · x = time, as `solve` weighs them.

    The intervals are those of the covariance with Student's t, the scatter taken from the residuals (inf with no
    degree of freedom left). AICc: Burnham and Anderson, Model Selection and Multimodel Inference, 2002, eq. 2.4;
    `chosen` parameters of the design were looked for among the points too.
    """
    points, terms = design.shape
    value, weight = solve(_plain, design, time_s, relative_error)
    a, b = design * weight[:, None], time_s * weight
    square = float(np.sum((a @ value - b) ** 2))
    freedom = points - terms
    scatter = square / freedom if freedom > 0 else math.inf
    covariance = np.linalg.pinv(a.T @ a)
    half = np.asarray(student.ppf(LEVEL, max(freedom, 1)) * np.sqrt(scatter * np.diag(covariance)), np.float64)
    return Line(value, value - half, value + half, _aicc(square, points, terms + chosen), design @ value)


def _plain(a: Array, b: Array) -> Array:
    return np.asarray(np.linalg.lstsq(a, b, rcond=None)[0], dtype=np.float64)


def _aicc(square: float, points: int, terms: int) -> float:
    k = terms + 1
    if points - k - 1 <= 0:
        return math.inf
    # Residuals below a thousandth of their errors say nothing more about the model.
    mean = max(square / points, 1e-6)
    return points * math.log(mean) + 2 * k + 2 * k * (k + 1) / (points - k - 1)
