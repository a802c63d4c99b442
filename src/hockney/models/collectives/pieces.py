"""The points of a measured collective, and the cheapest ranges of ranks and sizes with terms of their own.

Ranges are cut by dynamic programming, which finds the best cuts exactly (Bellman and Roth,
J. Am. Stat. Assoc. 64, 1969).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hockney.models.collectives.base import counted
from hockney.models.collectives.candidates import COLUMNS, GENERIC, NAMES, candidates
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.statistics import Array, nonnegative_least_squares

MOST_PIECES = 4
"""Ranges of n with terms of their own, and of P."""
_USED = range(1, MOST_PIECES + 1)
_SINGULAR = 1e-9
"""The least pivot of scaled products of terms that the points tell apart."""
LEAST_SIZES, LEAST_RANKS = 2, 3
"""Sizes and numbers of ranks of a range."""
MOST_ENDS, MOST_SIZE_ENDS = 12, 24
"""Numbers of ranks, and sizes, at which a range may end; of more, the best is looked for around the best of
these."""
POINTS_A_TERM = 3
"""Points that a range needs for each of its terms."""
FURTHER_POINTS = 2
"""Points beyond its parameters that a formula needs."""
PRIOR_POINTS = 4
"""What the noise of all ranges counts in each."""
_TIE = 1e-6
"""Criteria that are closer are equal: terms that are the same at these points. The first candidate stands."""


@dataclass(frozen=True, eq=False)
class CollectivePoints:
    """Measured times of one operation, algorithm and placement, arrays (n,); NaN where there is no interval.

    `size_B` as in the tidy table: the whole vector or one rank's block.
    """

    operation: str
    algorithm: str
    ranks: Array
    size_B: Array
    time_s: Array
    low_s: Array
    high_s: Array
    segment_B: int = 0
    radix: int = 0

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> CollectivePoints:
        """The chosen points."""
        return replace(
            self,
            ranks=self.ranks[chosen],
            size_B=self.size_B[chosen],
            time_s=self.time_s[chosen],
            low_s=self.low_s[chosen],
            high_s=self.high_s[chosen],
        )


class Piece(NamedTuple):
    """A range of the ranks and one of the sizes: places of the first, and of that after the last."""

    ranks: tuple[int, int]
    sizes: tuple[int, int]
    columns: tuple[int, ...]


class Problem:
    """The points with all columns, and their ranks and sizes in order."""

    def __init__(self, points: CollectivePoints) -> None:
        self.points = points
        self.ranks, self.rank_place = np.unique(points.ranks, return_inverse=True)
        self.sizes, self.size_place = np.unique(points.size_B, return_inverse=True)
        self.form = closed_form(points.operation, points.algorithm)
        self.candidates = candidates(self.form is not None, self.ranks.size > 1, self.sizes.size > 1)
        case = FormulaCall(points.ranks, points.size_B, float(points.segment_B), float(points.radix))
        terms = COLUMNS if self.form is not None else GENERIC
        self.design = np.column_stack([counted(self.form, term, case) for term in terms])

    def steps(self, number: int) -> tuple[int, int]:
        """How far ends of ranges are apart in a round, in places of the ranks and of the sizes."""
        sizes = (self.ranks.size, MOST_ENDS), (self.sizes.size, MOST_SIZE_ENDS)
        return tuple(max(-(-count // most) // 4**number, 1) for count, most in sizes)

    def best(self, weight: Array, noise: float, steps: tuple[int, int], near: Sequence[Piece]) -> list[Piece]:
        """The pieces with the least criterion for residuals weighted by `weight` (n,), of about `noise`.

        Either the ranks are cut first and then the sizes of each range, or the other way round. A range may end
        at every place that is a multiple of `steps` away from the first, or from an end of `near`.
        """
        rank_ends, size_ends = np.arange(0, self.ranks.size, steps[0]), np.arange(0, self.sizes.size, steps[1])
        if near and self.ranks.size > MOST_ENDS:
            rank_ends = np.unique([end + steps[0] * np.arange(-3, 4) for piece in near for end in piece.ranks])
        if near and self.sizes.size > MOST_SIZE_ENDS:
            size_ends = np.unique([end + steps[1] * np.arange(-3, 4) for piece in near for end in piece.sizes])
        of_ranks = ranges(self.ranks.size, LEAST_RANKS, rank_ends)
        of_sizes = ranges(self.sizes.size, LEAST_SIZES, size_ends)
        table = self.criteria(
            weight, noise, np.repeat(of_ranks, len(of_sizes), axis=0), np.tile(of_sizes, (len(of_ranks), 1))
        )
        least = table.min(axis=1)
        chosen = np.argmax(table <= (least + _TIE * np.maximum(np.abs(least), 1.0))[:, None], axis=1)
        cost = least.reshape(len(of_ranks), len(of_sizes))
        axes = (of_ranks, self.ranks.size), (of_sizes, self.sizes.size)
        tilings = []
        for outer, inner, of_outer in ((axes[0], axes[1], cost.T), (axes[1], axes[0], cost)):
            sums, within = cheapest(*inner, of_outer)
            total, over = cheapest(*outer, sums[:, None])
            tilings.append((float(total[0]), [(first, second) for first in over(0) for second in within(first)]))
        turned = tilings[1][0] < tilings[0][0]
        return [
            Piece(
                tuple(of_ranks[first].tolist()),
                tuple(of_sizes[second].tolist()),
                self.candidates[chosen[first * len(of_sizes) + second]],
            )
            for first, second in (pair[::-1] if turned else pair for pair in tilings[turned][1])
        ]

    def criteria(self, weight: Array, noise: float, ranks: NDArray[np.intp], sizes: NDArray[np.intp]) -> Array:
        """The criterion of every candidate in every range, (ranges, candidates); inf where it does not fit.

        A few points may lie on a curve by luck: `noise` counts as `PRIOR_POINTS` more. `ranks` and `sizes`:
        places of the first, and of that after the last, (ranges, 2).
        """
        weighted = np.column_stack([self.design, self.points.time_s]) * weight[:, None]
        shape = self.ranks.size + 1, self.sizes.size + 1
        products, numbers = np.zeros((*shape, weighted.shape[1], weighted.shape[1])), np.zeros(shape)
        after = self.rank_place + 1, self.size_place + 1
        np.add.at(products, after, weighted[:, :, None] * weighted[:, None, :])
        np.add.at(numbers, after, 1)
        (low, high), (left, right) = ranks.T, sizes.T
        products, numbers = (
            each[high, right] - each[low, right] - each[high, left] + each[low, left]
            for each in (sums.cumsum(axis=0).cumsum(axis=1) for sums in (products, numbers))
        )
        squares = products[:, -1, -1]
        scale = np.sqrt(np.maximum(np.diagonal(products, axis1=1, axis2=2), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        # Ranges come last, so that those of one candidate lie side by side.
        normal = np.ascontiguousarray((products / (scale[:, :, None] * scale[:, None, :])).transpose(1, 2, 0))
        total = self.points.ranks.size
        # By Cauchy and Schwarz: a range where bytes are a constant has one size, and no cost of a byte.
        one_size = normal[0, len(NAMES)] > 1 - _TIE
        table = np.full((numbers.size, len(self.candidates)), np.inf)
        for place, columns in enumerate(self.candidates):
            count, chosen = len(columns), [*columns, -1]
            share, fits = explained(normal[np.ix_(chosen, chosen)])
            square = (1 - share) * squares + PRIOR_POINTS * noise**2
            # The variance counts, and so does where the range ends.
            criterion = numbers * np.log(square / (numbers + PRIOR_POINTS)) + (count + 2) * math.log(total)
            enough = (numbers >= POINTS_A_TERM * count) | (numbers == total) & (numbers >= count + FURTHER_POINTS)
            is_per_byte = any(column < len(GENERIC) and COLUMNS[column].per_byte for column in columns)
            table[:, place] = np.where(fits & enough & ~(one_size & is_per_byte), criterion, np.inf)
        return table

    def fitted(self, pieces: Sequence[Piece], weight: Array, rows: NDArray[np.bool_]) -> list[Array]:
        """The coefficients of each piece, fitted to the points of `rows`, none negative."""
        values = []
        for piece in pieces:
            chosen = self.rows(piece) & rows
            design = self.design[chosen][:, piece.columns] * weight[chosen, None]
            target = (self.points.time_s * weight)[chosen]
            values.append(nonnegative_least_squares(design, target) if target.size else np.zeros(design.shape[1]))
        return values

    def rows(self, piece: Piece) -> NDArray[np.bool_]:
        """The points of a piece."""
        (low, high), (left, right) = piece.ranks, piece.sizes
        ranks = (self.rank_place >= low) & (self.rank_place < high)
        return np.asarray(ranks & (self.size_place >= left) & (self.size_place < right))

    def stretched(self, piece: Piece, part: Problem) -> Piece:
        """A piece of a part of the points, up to where the next one begins, and beyond what the part holds."""

        def place(at: int, own: Array, of_part: Array) -> int:
            return 0 if at == 0 else own.size if at == of_part.size else int(np.searchsorted(own, of_part[at]))

        (low, high), (left, right) = piece.ranks, piece.sizes
        ranks, sizes = (self.ranks, part.ranks), (self.sizes, part.sizes)
        return Piece(
            (place(low, *ranks), place(high, *ranks)), (place(left, *sizes), place(right, *sizes)), piece.columns
        )

    def model_s(self, pieces: Sequence[Piece], values: Sequence[Array]) -> Array:
        """Seconds at all points, shape (n,); 1 s without a piece."""
        time_s = np.ones_like(self.points.time_s)
        for piece, value in zip(pieces, values, strict=True):
            rows = self.rows(piece)
            time_s[rows] = self.design[rows][:, piece.columns] @ value
        return time_s


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
