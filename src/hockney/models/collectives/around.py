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
class AroundTimes:
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
        self.ranks, self.size_B = ranks, size_B
        with np.errstate(divide="ignore"):
            self._off, below, above = np.log(ratio), np.log(ratio) - np.log(low), np.log(high) - np.log(ratio)
        self._reach = np.where(np.isfinite(below) & np.isfinite(above), [below, above], np.nan)
        self._sizes, self._first, self._count = np.unique(np.sort(size_B), return_index=True, return_counts=True)
        # Of each size the points in the order of their ranks.
        self._rows = np.lexsort((ranks, size_B))
        self._at = np.log(ranks[self._rows])
        self._ranks = np.unique(ranks)
        self._keys = self._key(np.repeat(np.arange(self._sizes.size), self._count), ranks[self._rows])
        self._off_beyond = self._off.copy()
        several = self._count >= LAST
        first, end = self._first[several], (self._first + self._count)[several]
        for at, edge in (
            (first, first[:, None] + np.arange(LAST)),
            (end - 1, end[:, None] - 1 - np.arange(LAST)),
        ):
            self._off_beyond[self._rows[at]] = np.median(self._off[self._rows[edge]], axis=1)

    def neighbours(self, ranks: Array, size_B: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Of places (m,): four measured points and their weights, (m, 4), and doublings beyond, (m,)."""
        rows, weights, sizes, outside = self._neighbours(ranks, size_B)
        return rows, weights, (sizes + outside.max(axis=1)) / np.log(2)

    def _neighbours(self, ranks: Array, size_B: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """As `neighbours`, with ln of how far beyond sizes, (m,), and beyond the ranks of both sizes, (m, 2)."""
        known = size_place(self._sizes)
        asked_at = size_place(size_B)
        left, right = _around(np.searchsorted(known, asked_at), known, asked_at, np.intp(0), np.intp(known.size))
        share, beyond = _shares(known, left, right, asked_at, known[0], known[-1])
        asked, count = np.log(ranks), ranks.size
        rows, weights = np.zeros((count, 4), np.intp), np.zeros((count, 4))
        outside = np.zeros((count, 2))
        for side, (of, weight) in enumerate(((left, 1 - share), (right, share))):
            start, end = self._first[of], self._first[of] + self._count[of]
            low, high = _around(np.searchsorted(self._keys, self._key(of, ranks)), self._at, asked, start, end)
            part, far = _shares(self._at, low, high, asked, self._at[start], self._at[end - 1])
            rows[:, 2 * side], rows[:, 2 * side + 1] = self._rows[low], self._rows[high]
            weights[:, 2 * side], weights[:, 2 * side + 1] = weight * (1 - part), weight * part
            outside[:, side] = np.where(weight > 0, far, 0.0)
        return rows, weights, beyond, outside

    def _key(self, size: NDArray[np.intp], ranks: Array) -> NDArray[np.intp]:
        """Numbers (n,) in the order of the points: by the place of the size, then by ranks."""
        return size * (self._ranks.size + 1) + np.searchsorted(self._ranks, ranks)

    def corrected(
        self,
        ranks: Array,
        size_B: Array,
        model_s: Array,
        factor: float | None,
        growth: tuple[float, float] = (1.0, 1.0),
    ) -> AroundTimes:
        """The model's times (m,) with the ratios of the points around.

        95 % of what was left out lay within `factor`. At a point the interval is that of the point, none where
        that has none. Between points `factor` comes in as the deviation of a Brownian bridge does. Beyond them
        it grows with the root of the doublings. `growth`, of ranks and of sizes, adds to it for each doubling.
        """
        rows, weights, sizes, outside = self._neighbours(ranks, size_B)
        beyond = (sizes + outside.max(axis=1)) / np.log(2)
        off = np.where(np.repeat(outside > 0, 2, axis=1), self._off_beyond[rows], self._off[rows])
        time_s = model_s * np.exp((weights * off).sum(axis=1))
        unseen = np.nan if factor is None else np.log(factor)
        bridge = np.minimum(2 * (1 - (_merged(rows, weights) ** 2).sum(axis=1)), 1.0)
        spread = np.maximum(bridge, np.where(beyond > 0, 1 + beyond, 0.0))
        width = np.where(spread > 0, unseen**2 * spread, 0.0)
        width += (np.array([outside.max(axis=1), sizes]).T / np.log(2) @ np.log(growth)) ** 2
        reach = np.where(weights > 0, self._reach[:, rows], 0.0)
        # Away from points without an interval `factor` has what they are off by in it.
        reach = np.where(np.isnan(reach) & (spread > 0)[:, None], 0.0, reach)
        own = (reach * weights).sum(axis=2)
        low, high = np.sqrt(own**2 + width)
        return AroundTimes(time_s, time_s * np.exp(-low), time_s * np.exp(high), beyond)


def _merged(rows: NDArray[np.intp], weights: Array) -> Array:
    """Weights (m, 4) with those of one point, met twice, added up."""
    merged = weights.copy()
    for first in range(4):
        for second in range(first):
            same = (rows[:, first] == rows[:, second]) & (merged[:, first] > 0)
            merged[same, second] += merged[same, first]
            merged[same, first] = 0.0
    return merged


def _around(
    next_: NDArray[np.intp],
    known: Array,
    asked: Array,
    start: NDArray[np.intp] | np.intp,
    end: NDArray[np.intp] | np.intp,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of both neighbours of `asked` (m,) in `known` from `start` to before `end`; `next_`: none lower."""
    right = np.clip(next_, start, end - 1)
    return np.maximum(np.where(known[right] > asked, right - 1, right), start), right


def _shares(
    known: Array, left: NDArray[np.intp], right: NDArray[np.intp], asked: Array, first: Array, last: Array
) -> tuple[Array, Array]:
    """Of `asked` (m,): the share of the right neighbour, and how far beyond the `first` and `last`."""
    gap = known[right] - known[left]
    share = np.divide(asked - known[left], gap, out=np.zeros_like(asked), where=gap > 0)
    return share, np.maximum(first - asked, 0) + np.maximum(asked - last, 0)
