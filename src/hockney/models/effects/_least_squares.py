"""Weighted least squares on medians with intervals, as the models of effects need it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.records.answers import Timed
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import Array, aicc, least_squares, standard_error, t_reach

SCATTER = 0.05
"""Relative error that a simple model has anyway: a point's own noise counts beyond that."""
NO_INTERVAL = 0.5
"""Relative error of a point with too few samples for an interval."""
LEAST_SQUARE = 1e-6
"""The square of a residual, in units of its error, that counts at least."""
ROUNDS = 8
LEAST_SHARE = 1e-3
"""The least share of a time that a model is taken to predict while its weights are sought."""


@dataclass(frozen=True)
class WeightedLine:
    """A fitted linear model: coefficients, their 95 % intervals, AICc, and its times at the points."""

    value: Array
    low: Array
    high: Array
    aicc: float
    fitted: Array


def times_s(records: Sequence[EffectRecord]) -> Array:
    """The medians in seconds, one for each record."""
    return np.array([answered(record, Timed).time_s for record in records])


def relative_errors(records: Sequence[EffectRecord]) -> Array:
    """One standard error of each median, relative: from its 95 % interval, and at least SCATTER.

    The logarithms of the interval's ends count, because the interval of a disturbed median spans decades.
    """
    timed = [answered(record, Timed) for record in records]
    return np.array([relative_error(answer.low_s, answer.high_s) for answer in timed])


def relative_error(low_s: float | None, high_s: float | None) -> float:
    """`relative_errors` of one median with this interval."""
    error = standard_error(math.log(low_s), math.log(high_s)) if low_s and high_s else NO_INTERVAL
    return math.hypot(SCATTER, error)


def is_disturbed(record: EffectRecord) -> bool:
    """Whether the median's interval spans a factor of two, or there is none."""
    answer = answered(record, Timed)
    return not answer.low_s or not answer.high_s or answer.high_s > 2 * answer.low_s


def solve(
    by: Callable[[Array, Array], Array], design: Array, time_s: Array, relative_error: Array
) -> tuple[Array, Array]:
    """(coefficients, weights) of design · x = time by the solver of a weighted problem.

    Residuals relative to the time alone charge a model that is far too low at most 1. Relative to the mean of
    time and model, (m − t)/√(m t) = 2 sinh(½ ln m/t), a factor counts the same up and down.
    """
    model_s = time_s
    for _ in range(ROUNDS):
        weight = 1 / (relative_error * np.sqrt(time_s * model_s))
        value = by(design * weight[:, None], time_s * weight)
        model_s = np.maximum(design @ value, LEAST_SHARE * time_s)
    return value, weight


def line(design: Array, time_s: Array, relative_error: Array, chosen: int = 0) -> WeightedLine:
    """Least squares of design (points × terms) · x = time, as `solve` weighs them.

    The intervals are those of the covariance with Student's t, the scatter taken from the residuals (inf with no
    degree of freedom left). AICc counts `chosen` parameters of the design that were looked for among the points.
    """
    points, terms = design.shape
    _, weight = solve(lambda a, b: least_squares(a, b).value, design, time_s, relative_error)
    plain = least_squares(design, time_s, weight)
    half = t_reach(plain.noise * plain.errors, max(plain.freedom, 1))
    # Residuals below a thousandth of their errors say nothing more about the model.
    criterion = aicc(max(plain.square, LEAST_SQUARE * points), points, terms + chosen)
    return WeightedLine(plain.value, plain.value - half, plain.value + half, criterion, design @ plain.value)
