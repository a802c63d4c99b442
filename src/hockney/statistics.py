"""Statistics that all fits share: weighted least squares, intervals, and an information criterion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy import special

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
    # Series of as many sizes ask for the same.
    return float(special.stdtrit(freedom, TAILS[1]))


MEDIAN_FACTOR = 1.25
"""Standard error of a median of normal values beside that of their mean, √(π/2); of two they are the same."""

MOST_POOLED = 8
"""Degrees of freedom that a spread which several quantities have in common counts for beside one's own."""

LEAST_FREEDOM = 2.0
"""With less, Student's t says nothing: its interval would reach from nothing to everything."""


@lru_cache(maxsize=4096)
def most_like(chance: float, own_freedom: float, pooled_freedom: float) -> float:
    """How many times the variance of its like a variance may be before it is its own; inf where none is known.

    One of its like is more by that `chance` (Fisher's test).
    """
    known = own_freedom > 0 and pooled_freedom > 0
    return float(special.fdtri(own_freedom, pooled_freedom, 1 - chance)) if known else math.inf


MOST_REACH = 5.0
"""Of the logarithm of a time: an interval from a hundredth and a half to 150 times says that nothing is known."""


def typical_variance(variances: Array, freedoms: Array) -> float:
    """The variance that several quantities have in common, from estimates of each and their freedom, shapes (n,).

    The median, so that one quantity that was disturbed does not widen all: of a variance with f degrees of
    freedom that is 1 − 2/(9f) to the third of the mean (Wilson and Hilferty, 1931).
    """
    return float(np.median(variances / (1 - 2 / (9 * freedoms)) ** 3))


MODES_APART = 0.3
"""Of the logarithm of a time: modes that no reference sees lie closer; what is farther out was disturbed."""


def steady_median(times: Array) -> Array:
    """The median of each row after Harrell and Davis (Biometrika 69, 1982), (rows, n) → (rows,), without NaNs.

    It averages the logarithms in their order, the middle ones most, where the sample median takes one or two of
    them. So a few times that fall in two modes, as visits and launches do, give the middle of both, not the mode
    that by chance has one more. What is farther than `MODES_APART` from the sample median counts as if it lay
    there: one disturbed time of three moves the result by a quarter of that. Times are above 0.
    `scipy.stats.mstats.hdquantiles` has the same weights, and takes a tenth of a millisecond a row.
    """
    ordered, counts = np.sort(times, axis=1), np.count_nonzero(~np.isnan(times), axis=1)
    medians = np.full(len(times), np.nan)
    for count in np.unique(counts[counts > 0]).tolist():
        rows = counts == count
        known = ordered[rows, :count]
        # The middle one, or the geometric mean of both.
        middle = np.sqrt(known[:, (count - 1) // 2] * known[:, count // 2])
        ratio = np.clip(np.log(known / middle[:, None]), -MODES_APART, MODES_APART)
        medians[rows] = middle * np.exp(ratio @ _weights(count))
    return medians


@lru_cache(maxsize=4096)
def _weights(count: int) -> Array:
    """Of the ordered values, shape (count,): what a beta distribution has between i/count and (i + 1)/count."""
    shape = (count + 1) / 2
    return np.diff(special.betainc(shape, shape, np.arange(count + 1) / count))


def steady_median_factor(logarithms: Array) -> Array:
    """Standard error of the `steady_median` of each row beside that of a mean, (rows, n) → (rows,).

    From 1 for up to three normal values to `MEDIAN_FACTOR` for many, never less than what a simulation gives and
    at most 0.05 more (tests/test_statistics.py). Where values may count as if they lay nearer, it is that of a
    sample median.
    """
    known = ~np.isnan(logarithms)
    count = np.maximum(np.count_nonzero(known, axis=1), 1)
    least = np.where(known, logarithms, np.inf).min(axis=1)
    most = np.where(known, logarithms, -np.inf).max(axis=1)
    factor = np.maximum(1.0, MEDIAN_FACTOR - (MEDIAN_FACTOR - 1) * np.sqrt(3 / count))
    # A range of less than `MODES_APART` leaves nothing that far from the middle.
    return np.where((most - least > MODES_APART) & (count > 2), MEDIAN_FACTOR, factor)


def steady_median_error(logarithms: Array) -> float:
    """Standard error of the logarithm of a `steady_median`, from the logarithms of at least twelve times, (n,).

    After Maritz and Jarrett (J. Am. Stat. Assoc. 73, 1978), with the weights of Harrell and Davis. It asks how
    the middle values lie, not how far out others do, nor whether there are two modes: with Student's t it covers
    normal, heavy-tailed, skewed and two-mode times alike (tests/test_statistics.py), where one from the variance
    is too wide for the second and too narrow for the last. Fewer than twelve times do not tell their middle.
    """
    apart = np.sort(logarithms) - np.median(logarithms)
    apart = np.clip(apart, -MODES_APART, MODES_APART)
    weights = _weights(apart.size)
    return math.sqrt(max(0.0, float(weights @ apart**2 - (weights @ apart) ** 2)))


def pooled(time_s: Array, low_s: Array, high_s: Array) -> tuple[float, float, float]:
    """One time that was measured several times independently, with 95 % intervals, shapes (n,): all together.

    The steady median. Where the times differ by more than their intervals say, its own is wider by that ratio
    (Birge, Phys. Rev. 40, 1932).
    """
    logarithms, half = np.log(time_s), np.log(high_s / low_s) / 2
    reach = float(steady_median_factor(logarithms[None, :])[0]) * float(np.median(half)) / math.sqrt(time_s.size)
    if time_s.size > 1:
        differ = NORMAL * float(logarithms.std(ddof=1)) / float(np.median(half))
        reach *= max(1.0, differ)
    value, factor = float(steady_median(time_s[None, :])[0]), math.exp(reach)
    return value, value / factor, value * factor


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


def mixed_quantiles(weights: Array, centre: Array, deviation: Array) -> tuple[float, float, float]:
    """The lower end, the median and the upper end of a mixture of normal distributions."""
    low, high = float((centre - 6 * deviation).min()), float((centre + 6 * deviation).max())
    grid = np.linspace(low, high, 2001)
    below = special.ndtr((grid[:, None] - centre) / deviation) @ (weights / weights.sum())
    first, last = (float(np.interp(part, below, grid)) for part in TAILS)
    return first, float(np.interp(0.5, below, grid)), last


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


def nonnegative_least_squares(design: Array, target: Array, most_pivots: int | None = None) -> Array:
    """The x ≥ 0 (K,) that minimises Σ(design · x − target)²: design (N, K), target (N,)."""
    # It takes a fifth of a second to import, and a machine file is read without.
    from scipy.optimize import nnls

    # Columns may span many decades (1 and a million bytes), and the solver decides by absolute sizes.
    length = np.linalg.norm(design, axis=0)
    length = np.where(length > 0, length, 1.0)
    return np.asarray(nnls(design / length, target, maxiter=most_pivots)[0] / length)


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


def adjusted_r2(missed: Array, of: Array, parameters: int) -> float | None:
    """Adjusted R² of residuals, (n,), all `parameters` counted; None with no freedom, or nothing to explain."""
    freedom = of.size - parameters
    spread = float(np.sum((of - of.mean()) ** 2))
    if freedom < 1 or spread == 0:
        return None
    return 1 - float(np.sum(missed**2)) / spread * (of.size - 1) / freedom


TREND_WEIGHT = 0.3
"""Of a trend in a choice beyond the measured ranks: chosen on broadcasts and reductions of `orfeo-epyc`."""


def heeding(time_s: Array, trend_s: Array) -> Array:
    """What a choice compares: candidates' times, drawn to those of a trend; as they are where one has none.

    Both in seconds, shape (candidates,): their geometric mean, by `TREND_WEIGHT`.
    """
    if not np.isfinite(trend_s).all():
        return time_s
    return np.asarray(time_s ** (1 - TREND_WEIGHT) * trend_s**TREND_WEIGHT)


def holm(p: Array) -> Array:
    """Holm's correction of p-values, shape (n,): NaN are no comparisons, and stay NaN."""
    corrected = np.full(p.size, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    stepped = p[order] * np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0) if order.size else stepped
    return corrected
