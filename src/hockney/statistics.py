"""Statistics that all fits share: weighted least squares, intervals, and an information criterion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

CONFIDENCE = 0.95
"""The coverage of every interval that is printed."""
TAILS = (0.025, 0.975)
"""The quantiles between which a 95 % interval lies."""
NORMAL = 1.96
"""Standard deviations on either side that hold 95 % of a normal distribution, rounded as benchmarks print it."""
NORMAL_6 = 1.959964
"""The same to seven digits."""


@overload
def t_reach(standard_error: float, freedom: float) -> float: ...
@overload
def t_reach(standard_error: Array, freedom: float) -> Array: ...
def t_reach(standard_error: float | Array, freedom: float) -> float | Array:
    """Half the width of a 95 % interval of Student's t, same shape and unit; NaN with no degree of freedom."""
    return _t_quantile(freedom) * standard_error


@lru_cache(maxsize=4096)
def _t_quantile(freedom: float) -> float:
    # scipy takes a tenth of a millisecond, and series of as many sizes ask for the same.
    return float(stats.t.ppf(TAILS[1], freedom))


MEDIAN_FACTOR = 1.25
"""Standard error of a median of normal values beside that of their mean, √(π/2); of two they are the same."""

MOST_POOLED = 8
"""Degrees of freedom that a spread which several quantities have in common counts for beside one's own."""


MOST_REACH = 5.0
"""Of the logarithm of a time: an interval from a hundredth and a half to 150 times says that nothing is known."""


def typical_variance(variances: Array, freedoms: Array) -> float:
    """The variance that several quantities have in common, from estimates of each and their freedom, shapes (n,).

    The median, so that one quantity that was disturbed does not widen all: of a variance with f degrees of
    freedom that is 1 − 2/(9f) to the third of the mean (Wilson and Hilferty, 1931).
    """
    return float(np.median(variances / (1 - 2 / (9 * freedoms)) ** 3))


def mean_reach(values: Array) -> float:
    """`t_reach` of the mean of two or more values, shape (n,)."""
    return t_reach(float(values.std(ddof=1)) / math.sqrt(values.size), values.size - 1)


@overload
def standard_error(low: float, high: float) -> float: ...
@overload
def standard_error(low: Array, high: Array) -> Array: ...
def standard_error(low: float | Array, high: float | Array) -> float | Array:
    """The standard error that a 95 % interval of a normal distribution stands for, same shape and unit."""
    return (high - low) / (2 * NORMAL)


def least_absolute_share(missed: Array, correction: Array) -> float:
    """The w from 0 to 1 with the least Σ |missed − w · correction|, arrays of shape (n,); 0 without a correction.

    It is the median of missed / correction, each weighing |correction|, cut off at 0 and 1.
    """
    corrected = np.abs(correction) > 0
    if not corrected.any():
        return 0.0
    ratio, weight = missed[corrected] / correction[corrected], np.abs(correction[corrected])
    order = np.argsort(ratio)
    below = np.cumsum(weight[order])
    return float(np.clip(ratio[order][np.searchsorted(below, below[-1] / 2)], 0.0, 1.0))


@dataclass(frozen=True)
class LeastSquares:
    """A linear fit of K coefficients to N values; what is weighted is in units of one weighted residual.

    `value` (K,). `covariance` (K, K): (AᵀA)⁻¹ of the weighted design A, to be multiplied with the variance of a
    weighted residual; a direction that the points do not determine has value and variance 0. `square`: the sum of
    squared weighted residuals. `freedom`: N − K.
    """

    value: Array
    covariance: Array
    square: float
    freedom: int

    @property
    def noise(self) -> float:
        """The standard deviation of a weighted residual; inf with no degree of freedom."""
        return math.sqrt(self.square / self.freedom) if self.freedom > 0 else math.inf

    @property
    def errors(self) -> Array:
        """The coefficients' standard errors for weighted residuals of standard deviation 1, shape (K,)."""
        return np.sqrt(np.diag(self.covariance))

    def leverage(self, rows: Array) -> Array:
        """The variance of predictions at rows (M, K) of a design, in units of a residual's, shape (M,)."""
        return np.asarray(((rows @ self.covariance) * rows).sum(axis=1))


def least_squares(design: Array, target: Array, weight: Array | None = None) -> LeastSquares:
    """The x that minimises Σ w²(design · x − target)²: design (N, K), target (N,), weights w (N,) or all 1."""
    a, b = (design, target) if weight is None else (design * weight[:, None], target * weight)
    left, inverse = _decomposed(a)
    value = inverse @ (left.T @ b)
    residual = b - a @ value
    return LeastSquares(value, inverse @ inverse.T, float(residual @ residual), a.shape[0] - a.shape[1])


def covariance(jacobian: Array) -> Array:
    """(JᵀJ)⁻¹ of a Jacobian (N, K), as `LeastSquares.covariance`."""
    _, inverse = _decomposed(jacobian)
    return np.asarray(inverse @ inverse.T)


def _decomposed(a: Array) -> tuple[Array, Array]:
    """U (N, R) and B (K, R), R the rank of A, with UᵀU = 1, A⁺ = BUᵀ and (AᵀA)⁻¹ = BBᵀ."""
    # Columns may differ by orders of magnitude, as for seconds and seconds per byte: scaled, they keep digits.
    length = np.linalg.norm(a, axis=0)
    length = np.where(length > 0, length, 1.0)
    left, singular, right = np.linalg.svd(a / length, full_matrices=False)
    known = singular > np.finfo(np.float64).eps * max(a.shape) * singular[0]
    return left[:, known], (right[known] / singular[known, None]).T / length[:, None]


def aicc(square: float, points: int, parameters: int) -> float:
    """Akaike's criterion with the small-sample correction for a sum of squared residuals; the less the better.

    `parameters` are those of the model; the variance counts besides. Infinity where there are too few points.
    Burnham and Anderson, Model Selection and Multimodel Inference, 2002, eq. 2.4.
    """
    k = parameters + 1
    if points - k - 1 <= 0:
        return math.inf
    return points * math.log(square / points) + 2 * k + 2 * k * (k + 1) / (points - k - 1)
