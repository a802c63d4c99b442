"""A model corrected by the measured points around: at a point its time, between points a part of each one's.

What is known of a point is its ratio to the model. Between two numbers of ranks of one size, and between two
sizes, its logarithm goes straight over ln P and ln S. Beyond the measured ranks the median ratio of the `LAST`
numbers of ranks holds: one that was disturbed would carry its error to all that lies there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.records.series import size_place
from hockney.statistics import Array

LAST = 3
"""Numbers of ranks, of one size, whose ratio goes on beyond them; of fewer that of the very last."""


@dataclass(frozen=True, eq=False)
class Times:
    """Seconds with 95 % intervals, shapes (n,); NaN where nothing supports an interval.

    `beyond`: by how much ranks or sizes lie outside of the measured ones, in doublings.
    """

    time_s: Array
    low_s: Array
    high_s: Array
    beyond: Array


class Around:
    """Measured points (n,): ranks, bytes, and measured over model with the ends of its interval (NaN: none)."""

    def __init__(self, ranks: Array, size_B: Array, ratio: Array, low: Array, high: Array) -> None:
        with np.errstate(divide="ignore"):
            self._off, below, above = np.log(ratio), np.log(ratio) - np.log(low), np.log(high) - np.log(ratio)
        self._reach = np.where(np.isfinite(below) & np.isfinite(above), [below, above], np.nan)
        self._sizes = np.unique(size_B)
        # Of each size the points in the order of their ranks.
        order = np.lexsort((ranks, size_B))
        self._rows = np.split(order, np.flatnonzero(np.diff(size_B[order])) + 1)
        self._at = [np.log(ranks[rows]) for rows in self._rows]
        self._off_beyond = self._off.copy()
        for rows in (rows for rows in self._rows if rows.size >= LAST):
            self._off_beyond[rows[0]] = np.median(self._off[rows[:LAST]])
            self._off_beyond[rows[-1]] = np.median(self._off[rows[-LAST:]])

    def neighbours(self, ranks: Array, size_B: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Of places (m,): four measured points and their weights, (m, 4), and doublings beyond, (m,)."""
        rows, weights, sizes, outside = self._neighbours(ranks, size_B)
        return rows, weights, (sizes + outside.max(axis=1)) / np.log(2)

    def _neighbours(self, ranks: Array, size_B: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """As `neighbours`, with ln of how far beyond sizes, (m,), and beyond the ranks of both sizes, (m, 2)."""
        left, right, share, beyond = _between(size_place(self._sizes), size_place(size_B))
        asked, count = np.log(ranks), ranks.size
        rows, weights = np.zeros((count, 4), np.intp), np.zeros((count, 4))
        outside = np.zeros((count, 2))
        for side, (of, weight) in enumerate(((left, 1 - share), (right, share))):
            for index in np.unique(of):
                here = np.flatnonzero(of == index)
                low, high, part, far = _between(self._at[index], asked[here])
                points = self._rows[index]
                rows[here, 2 * side], rows[here, 2 * side + 1] = points[low], points[high]
                weights[here, 2 * side] = weight[here] * (1 - part)
                weights[here, 2 * side + 1] = weight[here] * part
                outside[here, side] = np.where(weight[here] > 0, far, 0.0)
        return rows, weights, beyond, outside

    def corrected(self, ranks: Array, size_B: Array, model_s: Array, factor: float | None) -> Times:
        """The model's times (m,) with the ratios of the points around.

        95 % of what was left out lay within `factor`. At a point the interval is that of the point, `factor`
        where that has none; from there `factor` comes in as the deviation of a Brownian bridge does, and beyond
        the points it grows with the root of the doublings.
        """
        rows, weights, sizes, outside = self._neighbours(ranks, size_B)
        beyond = (sizes + outside.max(axis=1)) / np.log(2)
        off = np.where(np.repeat(outside > 0, 2, axis=1), self._off_beyond[rows], self._off[rows])
        time_s = model_s * np.exp((weights * off).sum(axis=1))
        unseen = np.nan if factor is None else np.log(factor)
        bridge = np.minimum(2 * (1 - (_merged(rows, weights) ** 2).sum(axis=1)), 1.0)
        spread = np.maximum(bridge, np.where(beyond > 0, 1 + beyond, 0.0))
        width = np.where(spread > 0, unseen**2 * spread, 0.0)
        reach = np.where(np.isnan(self._reach), unseen, self._reach)[:, rows]
        own = (np.where(weights > 0, reach, 0.0) * weights).sum(axis=2)
        low, high = np.sqrt(own**2 + width)
        return Times(time_s, time_s * np.exp(-low), time_s * np.exp(high), beyond)


def _merged(rows: NDArray[np.intp], weights: Array) -> Array:
    """Weights (m, 4) with those of one point, met twice, added up."""
    merged = weights.copy()
    for first in range(4):
        for second in range(first):
            same = (rows[:, first] == rows[:, second]) & (merged[:, first] > 0)
            merged[same, second] += merged[same, first]
            merged[same, first] = 0.0
    return merged


def _between(known: Array, asked: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, Array]:
    """Of `asked` (m,): places of both neighbours in sorted `known`, the right one's share, how far beyond."""
    right = np.searchsorted(known, asked).clip(0, known.size - 1)
    left = np.where(known[right] > asked, right - 1, right).clip(0)
    gap = known[right] - known[left]
    share = np.divide(asked - known[left], gap, out=np.zeros_like(asked), where=gap > 0)
    return left, right, share, np.maximum(known[0] - asked, 0) + np.maximum(asked - known[-1], 0)
