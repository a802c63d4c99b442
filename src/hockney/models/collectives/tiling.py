"""The cheapest way to cut ranks and sizes into ranges, by dynamic programming from the first place on.

Bellman and Roth, J. Am. Stat. Assoc. 64, 1969: the best cuts are found exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hockney.statistics import Array

MOST_PIECES = 4
"""Ranges of n with terms of their own, and of P."""
_USED = range(1, MOST_PIECES + 1)
_SINGULAR = 1e-9
"""The least pivot of scaled products of terms that the points tell apart."""


def ranges(count: int, least: int, ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """Every range of at least `least` of `count` places that may be a piece, (ranges, 2).

    What is left on either side must be a piece as well.
    """
    inner = [end for end in ends.tolist() if least <= end <= count - least]
    pairs = [pair for pair in combinations([0, *inner, count], 2) if pair[1] - pair[0] >= min(least, count)]
    return np.array(pairs, dtype=np.intp)


def explained(normal: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The share of the last column's square that the others explain, and whether all coefficients are positive.

    `normal` (n + 1, n + 1, ranges) are products of scaled columns. Gauss's elimination, of all ranges at once.
    """
    size = normal.shape[0] - 1
    fits = np.ones(normal.shape[2], dtype=np.bool_)
    for pivot in range(size):
        fits &= normal[pivot, pivot] > _SINGULAR
        normal[pivot] /= np.where(fits, normal[pivot, pivot], 1.0)
        for other in range(size + 1):
            if other != pivot:
                normal[other, pivot + 1 :] -= normal[other, pivot] * normal[pivot, pivot + 1 :]
    fits &= (normal[:size, size] > 0).all(axis=0)
    return 1 - np.maximum(normal[size, size], 0.0), fits


def cheapest(ranges: NDArray[np.intp], count: int, cost: Array) -> tuple[Array, Callable[[int], list[int]]]:
    """At most `MOST_PIECES` ranges that tile `count` places, with the least sum of `cost` (ranges, others).

    The sums (others,), and a function from one of the others to the places of its ranges.
    """
    best: dict[tuple[int, int], tuple[Array, NDArray[np.intp]]] = {}
    nothing = np.zeros(cost.shape[1])
    for place in np.argsort(ranges[:, 1], kind="stable"):
        first, end = ranges[place].tolist()
        for used in range(MOST_PIECES):
            before = nothing if (first, used) == (0, 0) else best.get((first, used), (None,))[0]
            if before is None:
                continue
            sums, back = best.setdefault(
                (end, used + 1), (np.full(nothing.shape, np.inf), np.zeros(nothing.shape, np.intp))
            )
            better = before + cost[place] < sums
            sums[better], back[better] = (before + cost[place])[better], place
    whole = np.array([best[count, used][0] if (count, used) in best else nothing + np.inf for used in _USED])

    def chosen(other: int) -> list[int]:
        end, used, places = count, _USED[int(whole[:, other].argmin())], []
        while end > 0:
            places.append(int(best[end, used][1][other]))
            end, used = int(ranges[places[-1], 0]), used - 1
        return places[::-1]

    return whole.min(axis=0), chosen
