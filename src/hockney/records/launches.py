"""What the launches of a series come to: 95 % intervals for the median of what all launches would give.

Launches differ in two ways. What a launch does to all sizes alike (where its memory lies) has one degree of
freedom less than there are launches. What it does to each has those of the size and, because a few launches tell
a spread badly, at most `MOST_POOLED` of the spread that all sizes have in common.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import special

from hockney.statistics import (
    MEDIAN_FACTOR,
    MOST_POOLED,
    MOST_REACH,
    TAILS,
    Array,
    most_like,
    standard_error,
    steady_median,
    steady_median_factor,
    typical_variance,
)

UNLIKE = 0.05
"""A spread that the others' would give so rarely is a size's own."""

LEAST_FREEDOM = 2.0
"""With less, Student's t says nothing: its interval would reach from nothing to everything."""


def intervals(
    low_s: Array, time_s: Array, high_s: Array, *, is_multiplied: bool = True
) -> tuple[Array, Array, Array, Array]:
    """Each size's median (s), its lower and upper bound, and their degrees of freedom, shapes (sizes,).

    The times of each launch and the 95 % interval within it have the shape (sizes, launches), NaN where a launch
    lacks a size. What lies between launches multiplies times, unless they are differences of two (`is_multiplied`
    is false); medians are then plain ones, and else those of `steady_median`. Bounds and freedom are NaN where
    there is less than `LEAST_FREEDOM`.
    """
    if is_multiplied:
        low_s = np.maximum(low_s, time_s / math.exp(MOST_REACH))
        low, time, high = np.log(low_s), np.log(time_s), np.log(high_s)
        reach, freedom = _reach(time, standard_error(low, high), steady_median_factor(time))
        median_s = steady_median(time_s)
        factor = np.exp(np.minimum(reach, MOST_REACH))
        return median_s, median_s / factor, median_s * factor, freedom
    of_median = np.where(np.sum(~np.isnan(time_s), axis=1) > 2, MEDIAN_FACTOR, 1.0)
    reach, freedom = _reach(time_s, standard_error(low_s, high_s), of_median)
    median_s = _median(time_s, axis=1)
    return median_s, np.maximum(0.0, median_s - reach), median_s + reach, freedom


def _median(values: Array, axis: int) -> Array:
    """`np.nanmedian`, which takes ten times as long as the median where nothing is missing."""
    median = np.nanmedian if np.isnan(values).any() else np.median
    return np.asarray(median(values, axis=axis))


def _reach(values: Array, errors: Array, factor: Array) -> tuple[Array, Array]:
    """Half the width of the interval of each median, and its freedom; values and errors of (sizes, launches).

    `factor`: the standard error of each median beside that of a mean.

    The freedom of two variances that add up is Satterthwaite's (1946).
    """
    count = np.sum(~np.isnan(values), axis=1)
    own_freedom = (count - 1).astype(float)
    several = own_freedom > 0
    sizes, launches = int(several.sum()), values.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of launches that have nothing
        residual = values - np.nanmean(values, axis=1, keepdims=True)
        # Of a single size nobody can say which part is the launch's.
        of_launch = np.nan_to_num(_median(residual[several], axis=0)) if sizes > 1 else np.zeros(launches)
        within = np.nan_to_num(_median(errors, axis=1)) ** 2
    # The launches' common part is taken out of all sizes together: it costs each its share.
    share = sizes / max(sizes - 1, 1)
    square = np.nansum((residual - of_launch) ** 2, axis=1)
    variance = np.divide(square * share, own_freedom, out=np.zeros_like(square), where=several)
    common = typical_variance(variance[several], own_freedom[several]) if sizes > 1 else float(variance.sum())
    pooled_freedom = np.minimum(own_freedom.sum() - own_freedom, MOST_POOLED)  # its own are among them
    freedom = pooled_freedom + own_freedom
    spread = (pooled_freedom * common + own_freedom * variance) / np.maximum(freedom, 1)
    # What scatters so much more than its like keeps its own spread.
    is_unlike = variance > [
        common * most_like(UNLIKE, *both) for both in zip(own_freedom, pooled_freedom, strict=True)
    ]
    spread = np.where(is_unlike, variance, spread)
    freedom = np.where(is_unlike & (own_freedom >= LEAST_FREEDOM), own_freedom, freedom)
    of_median = factor**2 / count
    each = np.maximum(spread * of_median, within / count)
    moved = float(np.var(of_launch, ddof=1)) if sizes > 1 else 0.0
    shared = max(0.0, moved - common / max(sizes, 1)) * of_median
    total = each + shared
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = each**2 / freedom + shared**2 / max(launches - 1, 1)
        freedom = np.where(total > 0, np.minimum(total**2 / parts, freedom + launches - 1), freedom)
    freedom = np.where(freedom >= LEAST_FREEDOM, freedom, np.nan)
    return special.stdtrit(freedom, TAILS[1]) * np.sqrt(total), freedom
