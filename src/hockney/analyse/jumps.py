"""Where time against ranks breaks: a cache, a socket or a node is full (document 004, "jumps")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

LEAST_WINDOW = 6
WINDOW_SHARE = 0.2
"""Points on either side that two lines are compared on: this share of the curve, and at least so many."""
SIGNIFICANCE = 1e-4
"""One chance finding in some hundred curves of a hundred points."""
NOTABLE = 1.2, 2.0
"""Ratio of level or of slope that a reader would call a break."""
LEAST_MISFIT = 0.02
"""A single line that misses by less (root mean square, relative) is good enough, however significant."""


@dataclass(frozen=True)
class Jump:
    """Between `before` and `after` ranks: the level rises by `level_ratio`, the cost of one more rank by
    `slope_ratio` (None where it was not positive before).
    """

    before: int
    after: int
    level_ratio: float
    slope_ratio: float | None
    p_value: float


def jumps(ranks: Array, time_s: Array) -> list[Jump]:
    """Breaks of a curve T(P), in the order of P, by relative residuals: early ones count as much as late ones.

    At each place the points on either side are fitted by one line and by two; an F-test tells whether two are
    needed. Of neighbouring findings the clearest stays. Fewer than three points on a side are no evidence.
    """
    order = np.argsort(ranks)
    at, time = ranks[order], time_s[order]
    window = max(LEAST_WINDOW, round(WINDOW_SHARE * at.size))
    found: list[tuple[int, Jump]] = []
    for split in range(3, at.size - 2):
        left, right = slice(max(0, split - window), split), slice(split, min(at.size, split + window))
        if (jump := _compare(at, time, left, right)) is not None:
            found.append((split, jump))
    kept: list[tuple[int, Jump]] = []
    for split, jump in sorted(found, key=lambda entry: entry[1].p_value):
        if all(abs(split - other) >= window // 2 for other, _ in kept):
            kept.append((split, jump))
    return [jump for _, jump in sorted(kept, key=lambda entry: entry[0])]


def _compare(at: Array, time: Array, left: slice, right: slice) -> Jump | None:
    both = slice(left.start, right.stop)
    _, one_sse = _line(at[both], time[both])
    (low, low_sse), (high, high_sse) = _line(at[left], time[left]), _line(at[right], time[right])
    count = both.stop - both.start
    freedom = count - 4
    misfit = np.sqrt(one_sse / count)
    if freedom < 2 or misfit < LEAST_MISFIT:
        return None
    two_sse = max(low_sse + high_sse, 1e-12 * one_sse)
    statistic = (one_sse - two_sse) / 2 / (two_sse / freedom)
    p_value = float(stats.f.sf(statistic, 2, freedom))
    if p_value > SIGNIFICANCE:
        return None
    middle = (at[left.stop - 1] + at[right.start]) / 2
    level_before, level_after = low[0] + low[1] * middle, high[0] + high[1] * middle
    if level_before <= 0 or level_after <= 0:
        return None
    rise = max(level_after / level_before, level_before / level_after)
    steeper = high[1] / low[1] if low[1] > 0 and high[1] > 0 else np.inf
    if rise < NOTABLE[0] and max(steeper, 1 / steeper) < NOTABLE[1]:
        return None
    return Jump(
        int(at[left.stop - 1]),
        int(at[right.start]),
        float(level_after / level_before),
        float(high[1] / low[1]) if low[1] > 0 else None,
        p_value,
    )


def _line(at: Array, time: Array) -> tuple[tuple[float, float], float]:
    """Intercept and slope by relative least squares, and the sum of squared relative residuals."""
    design = np.column_stack([np.ones_like(at), at]) / time[:, None]
    solution, *_ = np.linalg.lstsq(design, np.ones_like(time), rcond=None)
    residual = 1 - design @ solution
    return (float(solution[0]), float(solution[1])), float(residual @ residual)
