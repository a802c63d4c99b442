"""Cut a curve into straight regimes: number and place of the breaks chosen together by dynamic programming.

A regime rests on three sizes or more, or on two beside a break that the library states. Where no regime is
earned, joins lead from one measured size to the next: across a gap in which two regimes do not meet (a jump,
somewhere between two sizes), through sizes that belong to no regime, on to the largest size. A join claims no
more than interpolation would. The best of all cuts minimises

    Σ ((α + βn − T)/T)² / σ²  +  REGIME per regime  +  JOIN per join  +  ASIDE per size set aside,

after Bellman (1961, "On the approximation of curves by line segments using dynamic programming") with the
penalty of an information criterion. A regime of four sizes or more may set one of them aside (between the ends,
only one whose visits do not agree), and joins to the largest size cost more than others: a single disturbed size
neither makes a regime nor bends one. The empty message, which many libraries send on a path of its own, may stand
alone at the price of a join where it is as certain as other sizes: T(0) is then what was measured.

Neighbouring regimes share a measured point; or their lines meet between two points; or they jump there, where the
points are close together or the library states the break.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.models._linear import PiecewiseLine, SegmentLines, nonnegative_line, nonnegative_lines
from hockney.statistics import Array

NOISE = 0.02
"""A deviation below this is not worth a regime, however quiet the measurement."""

REGIME = 4.0
"""Cost of a regime: roughly ln N per two parameters and a break, at the 10 to 30 sizes of a series."""

JOIN = 3.0
"""Cost of a join: roughly ln N for the size that it leads to."""

ASIDE = 8.0
"""Cost of a size set aside: less than that of the further regime and the two joins that would meet it."""

LAST = 6.0
"""Further cost of a join to the largest size: one disturbed size there is set aside, two that agree are not."""

MOST_REGIMES = 6
"""The most regimes that a person can still read."""

LEAST_SIZES = 3
"""The fewest sizes of a regime whose breaks the library does not state."""

EMPTY_B = 0.5
"""Where the piece of the empty message ends: sizes are whole numbers."""

CLOSE = 1.1
"""The ratio of neighbouring sizes up to which the place of a jump between them is known well enough."""


@dataclass(frozen=True)
class Stretch:
    """Points first … last (inclusive) of one regime, or the two points between which a join leads.

    A single point is the empty message alone, or, for the judgement of breaks, where joins end a curve.
    """

    first: int
    last: int
    joins: bool = False

    @property
    def is_regime(self) -> bool:
        return not self.joins and self.first < self.last


@dataclass(frozen=True)
class SizeSegment(Stretch):
    """A stretch with its line, which holds up to and including `upper_B`; the point `aside` had no say in it."""

    alpha_s: float = 0.0
    beta_s_per_B: float = 0.0
    upper_B: float = np.inf
    aside: int | None = None

    def points(self) -> list[int]:
        """The points that the line was fitted to."""
        return [point for point in range(self.first, self.last + 1) if point != self.aside]


def lines_of(segments: Sequence[SizeSegment]) -> PiecewiseLine:
    return PiecewiseLine(
        np.array([segment.upper_B for segment in segments]),
        np.array([segment.alpha_s for segment in segments]),
        np.array([segment.beta_s_per_B for segment in segments]),
    )


class Curve:
    """A curve of N points, sizes increasing, with the best line through every stretch of it and the `best` cut.

    `noise` (N,) is the relative standard error of each point: one that is less certain than `NOISE` weighs less.
    `sigma` is the scatter that needs no explanation: more than `NOISE` where the best cut would otherwise have
    more regimes than a person can read.
    """

    def __init__(self, size_B: Array, time_s: Array, noise: Array, eager_limit_B: float | None) -> None:
        self.size_B, self.time_s, self.noise, self.eager_limit_B = size_B, time_s, noise, eager_limit_B
        weight = (NOISE / np.maximum(noise, NOISE)) ** 2
        low, high = size_B[:-1], size_B[1:]
        limit = np.nan if eager_limit_B is None else eager_limit_B
        self._stated: NDArray[np.bool_] = (low <= limit) & (limit <= high)
        self._placed = self._stated | (high <= CLOSE * low) | (high - low <= 1)
        whole, without = nonnegative_lines(size_B, time_s, weight), _without_each(size_B, time_s, weight)
        is_known = (noise > 0) & (noise <= NOISE)
        self._may_be_alone = bool(size_B[0] == 0 and 0 < noise[0] <= max(NOISE, np.median(noise)))
        is_known[0] |= self._may_be_alone
        # On the largest size alone no bandwidth rests, however well its visits agree.
        without.cost[is_known & (size_B < size_B[-1])] = np.inf
        self.sigma = NOISE
        while True:
            self._lines, self._aside = _with_one_aside(whole, without, ASIDE * self.sigma**2)
            self.best = self._search()
            if sum(stretch.is_regime for stretch in self.best) <= MOST_REGIMES:
                break
            self.sigma *= 1.5

    def like(self, time_s: Array) -> Curve:
        """The curve of other times at the same sizes, with the same noise and eager limit."""
        return Curve(self.size_B, time_s, self.noise, self.eager_limit_B)

    def segments(self, stretches: Sequence[Stretch]) -> list[SizeSegment]:
        """The lines of `stretches`, which cover the curve in order, and where they end."""
        segments = []
        for number, stretch in enumerate(stretches):
            alpha_s, beta_s_per_B = self._join(stretches, number) if stretch.joins else self._line(stretch)
            upper_B = np.inf
            if number + 1 < len(stretches):
                upper_B = self._break(stretch, stretches[number + 1])
                # The times may fall, or rise faster than the sizes. No physical line meets both ends then, and
                # the larger one is left to what follows.
                misses = stretch.joins and (alpha_s == 0 or beta_s_per_B == 0)
                if misses and self.size_B[stretch.last] - self.size_B[stretch.first] > 1:
                    upper_B -= 1
            aside = int(self._aside[stretch.first, stretch.last])
            segments.append(
                SizeSegment(
                    *(stretch.first, stretch.last, stretch.joins, alpha_s, beta_s_per_B, upper_B),
                    aside=None if stretch.joins or aside < 0 else aside,
                )
            )
        return segments

    def gain(self, before: Stretch, after: Stretch, joins: int) -> float:
        """What a break between two regimes saves beyond its cost, in units of `sigma`²."""
        cost = self._lines.cost
        whole, apart = (
            cost[before.first, after.last],
            cost[before.first, before.last] + cost[after.first, after.last],
        )
        regime = REGIME if before.first < before.last else JOIN
        return float((whole - apart) / self.sigma**2) - regime - JOIN * joins

    def _line(self, stretch: Stretch) -> tuple[float, float]:
        place = stretch.first, stretch.last
        return float(self._lines.alpha_s[place]), float(self._lines.beta_s_per_B[place])

    def _join(self, stretches: Sequence[Stretch], number: int) -> tuple[float, float]:
        """α and β ≥ 0 from the line of the regime before, or a measured point, to that of the regime after."""
        join = stretches[number]
        ends = {join.first: self.time_s[join.first], join.last: self.time_s[join.last]}
        for neighbour in stretches[max(number - 1, 0) : number + 2]:
            if not neighbour.joins:
                alpha_s, beta_s_per_B = self._line(neighbour)
                point = join.first if neighbour.last == join.first else join.last
                ends[point] = alpha_s + beta_s_per_B * self.size_B[point]
        return nonnegative_line(self.size_B[list(ends)], np.array(list(ends.values())))

    def _search(self) -> list[Stretch]:
        """The cut of least cost; `least[i, j]` is that of points 0 … j with the last stretch i … j."""
        count = self.size_B.size
        if count <= LEAST_SIZES:
            return [Stretch(0, count - 1)]
        cost = self._lines.cost / self.sigma**2 + REGIME
        pairs = np.arange(count - 1)
        cost[pairs, pairs] = cost[-1, -1] = np.inf
        misfit = cost[pairs, pairs + 1] - REGIME
        cost[pairs, pairs + 1] = JOIN + np.minimum(misfit, JOIN)
        cost[-2, -1] += LAST
        # Beyond the largest size the last line is all there is: it needs a slope.
        cost[:, -1] += np.where(self._lines.beta_s_per_B[:, -1] > 0, 0.0, 1e9)
        # A pair of points is a regime where the library states a break at either end of it, else a join.
        regime = np.triu(np.ones((count, count), dtype=np.bool_), LEAST_SIZES - 1)
        regime[pairs[1:], pairs[1:] + 1] |= self._stated[:-1]
        regime[pairs[:-1], pairs[:-1] + 1] |= self._stated[1:]
        least = np.full_like(cost, np.inf)
        least[0] = np.where(regime[0], cost[0], np.inf)
        # The stretch before, its first point; and whether the next one begins at the point after its last.
        before = np.zeros((count, count), dtype=np.intp)
        apart = np.zeros((count, count), dtype=np.bool_)
        meets = self._meets() & regime.T[:-1, :, None] & regime[1:, None, :]
        for first in range(1, count - 1):
            ends = slice(first + 1, None)
            shared = least[:first, first]
            # A lone pair at the start would be a join from a single size.
            nearest = int(np.argmin(shared)) if first > 1 else 0
            least[first, ends] = (shared[nearest] if first > 1 else np.inf) + cost[first, ends]
            before[first, ends] = nearest
            over = np.where(meets[first - 1, :first, ends], least[:first, first - 1, None], np.inf)
            start = np.argmin(over, axis=0)
            jumped = over[start, np.arange(start.size)] + cost[first, ends]
            if first == 1 and self._may_be_alone:
                jumped = np.where(regime[first, ends], JOIN + cost[first, ends], np.inf)
            # Where both cost the same, up to rounding, a clean break is easier to read.
            better = jumped <= least[first, ends] + 1e-9
            least[first, ends] = np.where(better, jumped, least[first, ends])
            before[first, ends] = np.where(better, start, nearest)
            apart[first, ends] = better
        return _traced(int(np.argmin(least[:, -1])), before, apart)

    def _meets(self) -> NDArray[np.bool_]:
        """[g, i, j]: whether the lines of i … g and g + 1 … j meet in between, or may jump there."""
        alpha, next_alpha = self._lines.alpha_s.T[:-1, :, None], self._lines.alpha_s[1:, None, :]
        beta, next_beta = self._lines.beta_s_per_B.T[:-1, :, None], self._lines.beta_s_per_B[1:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = (next_alpha - alpha) / (beta - next_beta)
        low_B, high_B = self.size_B[:-1, None, None], self.size_B[1:, None, None]
        return np.asarray(((low_B <= meet) & (meet <= high_B)) | self._placed[:, None, None])

    def _break(self, left: Stretch, right: Stretch) -> float:
        """The size in bytes at which one stretch ends and the next begins."""
        low, high = self.size_B[left.last], self.size_B[right.first]
        if left.first == left.last:
            return EMPTY_B
        if left.joins or right.joins:
            return float(low)
        shared = left.last == right.first
        if shared:
            # No farther than halfway to the next point, so that breaks keep their order.
            low = _middle(self.size_B[left.last - 1], low)
            high = _middle(high, self.size_B[right.first + 1])
        elif self.eager_limit_B is not None and low <= self.eager_limit_B <= high:
            # The message of exactly the limit can be on either side: some libraries count their header.
            return self.eager_limit_B - float(self.eager_limit_B == high)
        (alpha, beta), (next_alpha, next_beta) = self._line(left), self._line(right)
        meet = (next_alpha - alpha) / (beta - next_beta) if beta != next_beta else np.nan
        if low <= meet <= high:
            return meet
        return float(self.size_B[left.last]) if shared else _middle(low, high)


def _traced(first: int, before: NDArray[np.intp], apart: NDArray[np.bool_]) -> list[Stretch]:
    """The stretches that end with the one from `first` to the last point; a pair that shares its ends joins."""
    last = before.shape[0] - 1
    stretches: list[Stretch] = []
    gap_after = False
    while True:
        gap_before = bool(apart[first, last])
        stretches.insert(0, Stretch(first, last, last == first + 1 and not gap_before and not gap_after))
        if first == 0:
            return stretches
        first, last, gap_after = int(before[first, last]), first - gap_before, gap_before


def _middle(low: float, high: float) -> float:
    """Geometric mean; half of `high` where `low` is zero."""
    return float(np.sqrt(low * high)) if low > 0 else high / 2


def _without_each(size_B: Array, time_s: Array, weight: Array) -> SegmentLines:
    """[k, i, j]: the line through points i … j but k; infinite cost unless three points are left and k is one."""
    lines = nonnegative_lines(size_B, time_s, weight * (1.0 - np.eye(size_B.size)))
    place = np.arange(size_B.size)
    left, first, last = place[:, None, None], place[None, :, None], place[None, None, :]
    valid = (first <= left) & (left <= last) & (last - first >= LEAST_SIZES)
    return SegmentLines(lines.alpha_s, lines.beta_s_per_B, np.where(valid, lines.cost, np.inf))


def _with_one_aside(
    whole: SegmentLines, without: SegmentLines, price: float
) -> tuple[SegmentLines, NDArray[np.intp]]:
    """The better of both for each stretch, and the point set aside, which costs `price`; −1 for none."""
    left = np.argmin(without.cost, axis=0)
    cost, alpha_s, beta_s_per_B = (
        np.take_along_axis(values, left[None], axis=0)[0]
        for values in (without.cost + price, without.alpha_s, without.beta_s_per_B)
    )
    better = cost < whole.cost
    lines = SegmentLines(
        np.where(better, alpha_s, whole.alpha_s),
        np.where(better, beta_s_per_B, whole.beta_s_per_B),
        np.where(better, cost, whole.cost),
    )
    return lines, np.where(better, left, -1)
