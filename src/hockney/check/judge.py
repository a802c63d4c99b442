"""Whether one side of each comparison takes longer than the other by more than chance, among all comparisons.

Each launch gives the ratio of the two sides, so that what slows a whole launch down cancels. How ratios differ
from launch to launch gives their interval (`hockney.records.series_of_table`), with what calls of the same kind
have in common, and with what a ratio moves until another campaign, which no launches seconds apart tell. The
probability that a ratio which is in truth at most 1 looks so large is Student's. Holm's correction (1979) keeps
the probability that any of all comparisons is falsely called a violation below the family-wise error, however
they depend on each other.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from hockney.models.base import DRIFT_AT_REFERENCE
from hockney.records.series_of_table import intervals
from hockney.statistics import MODES_APART, NORMAL, TAILS, Array, holm, standard_error, steady_median
from hockney.units import grouped

LEAST_LAUNCHES = 5
"""Fewer do not tell how launches differ: with four, where each size has a spread of its own, noise alone alarmed
in one of 17 campaigns for one of 50."""

LEAST_WITNESSES = 4
"""Fewer launches that agree do not show that the others were disturbed."""

RATIO_DRIFT = math.sqrt(2) * DRIFT_AT_REFERENCE
"""Standard deviation of ln(ratio) between campaigns, beyond what launches tell: that of both its times.

What moves a whole launch cancels in its ratios, as where times are brought to one reference of the machine.
Ratios of broadcasts and allreduces by two algorithms, visited beside each other, moved by 0 to 1.4 % between
six campaigns on one virtual machine; of calls seconds apart in a launch by up to 6 %.
"""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Which times are compared, by rows of a matrix of times, shapes (comparisons,) and (comparisons, parts).

    The time of row `slow` against the sum of those of rows `fast`, each `counts` times (0: no such part).
    `alike`: the comparisons of one group differ in size alone.
    """

    slow: NDArray[np.intp]
    fast: NDArray[np.intp]
    counts: Array
    alike: tuple[NDArray[np.intp], ...]


def comparisons(rows: Sequence[tuple[int, Sequence[tuple[int, int]]]], groups: Sequence[Hashable]) -> Comparisons:
    """Comparisons of (slow row, (count, fast row) of each part), and the group of each."""
    most = max((len(fast) for _, fast in rows), default=0)
    padded = [[*fast, *[(0, 0)] * (most - len(fast))] for _, fast in rows]
    shape = (len(rows), most, 2)
    parts = np.array(padded, dtype=np.int64).reshape(shape)
    members = grouped(range(len(groups)), groups.__getitem__)
    return Comparisons(
        np.array([slow for slow, _ in rows], dtype=np.intp),
        parts[:, :, 1].astype(np.intp),
        parts[:, :, 0].astype(np.float64),
        tuple(np.array(group, dtype=np.intp) for group in members.values()),
    )


@dataclass(frozen=True, eq=False)
class JudgedRatios:
    """What became of each comparison, shapes (comparisons,).

    `ratio` is slow over fast, the steady median over launches, with its 95 % interval, which knows that a ratio
    moves between campaigns; `launches` are those in which both sides were timed. `p`: how likely as large a
    ratio is where the true one is at most 1. `p_corrected`: the smallest family-wise error at which it would be
    called a violation. `error`: the standard error of ln(ratio) as launches alone tell it, with its `freedom`.
    NaN where launches are too few.
    """

    ratio: Array
    low: Array
    high: Array
    p: Array
    p_corrected: Array
    launches: NDArray[np.intp]
    error: Array
    freedom: Array


def judge(compared: Comparisons, time_s: Array, low_s: Array, high_s: Array) -> JudgedRatios:
    """Judge comparisons by the times of each row in each launch, (rows, launches), NaN where there is none.

    `low_s` and `high_s` are the 95 % intervals within a launch, of the same shape.
    """
    count = compared.slow.size
    nothing = np.full(count, np.nan)
    if not count:
        none = np.zeros(0, dtype=np.intp)
        return JudgedRatios(nothing, nothing, nothing, nothing, nothing, none, nothing, nothing)
    ratio, error = _ratios(compared, time_s, low_s, high_s)
    launches = np.sum(~np.isnan(ratio), axis=1)
    middle = steady_median(ratio)
    of_ratio, freedom = nothing.copy(), nothing.copy()
    for group in compared.alike:
        chosen = group[launches[group] >= LEAST_LAUNCHES]
        if not chosen.size:
            continue
        # Launches that have none of them tell nothing about how launches differ.
        is_timed = ~np.isnan(ratio[chosen]).all(axis=0)
        of_group, within = ratio[chosen][:, is_timed], np.exp(NORMAL * error[chosen][:, is_timed])
        _, of_ratio[chosen], freedom[chosen] = steady(of_group / within, of_group, of_group * within)
    error, known = with_drift(of_ratio, freedom)
    reach = np.exp(special.stdtrit(known, TAILS[1]) * error)
    p = _tail(middle, error, known)
    counts = launches.astype(np.intp)
    return JudgedRatios(middle, middle / reach, middle * reach, p, holm(p), counts, of_ratio, freedom)


def steady(low: Array, time: Array, high: Array) -> tuple[Array, Array, Array]:
    """The steady median of each row over launches, the standard error of its logarithm, and its freedom, (rows,).

    The rows are alike, (rows, launches), NaN where a launch lacks one; `low` and `high` are the 95 % intervals
    within a launch. NaN where the launches are too few.

    A launch in which another program had the core for all of a visit has a time a thousand times too long. The
    median does not ask how far out it lies, and so its error does not either. Each such launch is a witness
    less, and takes the one at the other end with it, as from a trimmed mean (Tukey and McLaughlin, 1963). Where
    that leaves fewer than `LEAST_WITNESSES` nobody can say which launches were disturbed: all count as they are.
    """
    logarithms = np.log(time)
    fewer = np.zeros(len(time))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of rows that a single launch, or none, timed
        # Where no two launches lie that far apart, none is far from the median: most calls by far.
        if np.any(np.fmax.reduce(logarithms, axis=1) - np.fmin.reduce(logarithms, axis=1) > MODES_APART):
            # The one that knows missing times takes ten times as long.
            median = np.nanmedian if np.isnan(logarithms).any() else np.median
            apart = logarithms - median(logarithms, axis=1, keepdims=True)
            far = np.sum(np.abs(apart) > MODES_APART, axis=1)
            fewer = np.where(np.sum(~np.isnan(time), axis=1) - 2 * far >= LEAST_WITNESSES, 2.0 * far, 0.0)
            nearer = np.exp(np.clip(apart, -MODES_APART, MODES_APART) - apart)
            moved = np.where(fewer[:, None] > 0, nearer, 1.0)
            low, time, high = low * moved, time * moved, high * moved
        middle, _, top, freedom = intervals(low, time, high)
    error = np.log(top / middle) / special.stdtrit(freedom, TAILS[1])
    return middle, error, freedom - fewer


def _ratios(compared: Comparisons, time_s: Array, low_s: Array, high_s: Array) -> tuple[Array, Array]:
    """Slow over fast in each launch and the standard error of its logarithm, both (comparisons, launches)."""
    error = standard_error(np.log(low_s.clip(min=time_s / 100)), np.log(high_s))
    counts = compared.counts[:, :, None]
    # A row that is not there counts 0 times, but may have no time in a launch.
    parts_s = np.where(counts > 0, counts * time_s[compared.fast], 0.0)
    fast_s = parts_s.sum(axis=1)
    errors = np.where(counts > 0, parts_s * error[compared.fast], 0.0)
    of_fast = np.sqrt((errors**2).sum(axis=1)) / fast_s
    return time_s[compared.slow] / fast_s, np.hypot(error[compared.slow], of_fast)


def with_drift(error: Array, freedom: Array) -> tuple[Array, Array]:
    """The standard error of each ln(ratio), with what the ratio moves from campaign to campaign, and its freedom.

    The drift is taken as known: it adds to the variance, not to its uncertainty (Satterthwaite, 1946). Launches
    that agree to the last digit, as those of a simulator do, are of no machine that moves.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.where(error <= ROUNDING, error, np.hypot(error, RATIO_DRIFT))
        return total, np.where(error <= ROUNDING, freedom, freedom * (total / error) ** 4)


def _tail(ratio: Array, error: Array, freedom: Array) -> Array:
    """How likely a ratio as large is by chance where the true one is 1; NaN without freedom.

    `error`: the standard error of its logarithm.
    """
    beyond = np.log(ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stats.t.sf(beyond / error, freedom)
    # Launches that agree to the last digit leave rounding errors alone.
    exact = np.where(beyond > ROUNDING, 0.0, 1.0)
    return np.where(error <= ROUNDING, np.where(np.isnan(error), np.nan, exact), p)


ROUNDING = 1e-12
"""Of the logarithm of a ratio of times."""
