"""A curve cut into straight regimes (the search: cpp/fit/regimes.hpp), with their lines and where these end.

Which breaks recur is seen when the points are drawn anew from the intervals that their visits left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from hockney._core import Regimes
from hockney.models.base import PiecewiseLine
from hockney.statistics import MOST_REACH, Array

ROUNDS = 20
"""Curves drawn."""

RECURS = 0.9
"""The share of the drawn curves in which a break has to recur."""

SETTLED = 25.0
"""A break that saves as much beyond its cost is five standard errors from none: it recurs, drawn or not."""

Stretch = tuple[int, int]
"""The first and the last point (inclusive) of a regime."""


@dataclass(frozen=True)
class SizeSegment:
    """Points first … last (inclusive) with their line, in which the point `aside` had no say; it holds up to and
    including `upper_B`."""

    first: int
    last: int
    alpha_s: float
    beta_s_per_B: float
    upper_B: float
    aside: int | None

    def points(self) -> list[int]:
        """The points that the line was fitted to."""
        return [point for point in range(self.first, self.last + 1) if point != self.aside]


class SizeCurve:
    """A curve of N ≤ `Regimes.MOST_POINTS` points, sizes increasing, with the `best` cut of it.

    `noise` (N,) is the relative standard error of each point: one that is less certain than others weighs less.
    `eager_limit_B` and `breaks_B` are the sizes at which the library says that it does something else.
    """

    def __init__(
        self,
        size_B: Array,
        time_s: Array,
        noise: Array,
        eager_limit_B: float | None,
        breaks_B: Sequence[float] = (),
    ) -> None:
        self.size_B, self.time_s, self.noise = size_B, time_s, noise
        self.eager_limit_B, self.breaks_B = eager_limit_B, breaks_B
        self._regimes = Regimes(size_B, time_s, noise, eager_limit_B, sorted(breaks_B))

    @cached_property
    def best(self) -> list[Stretch]:
        """The cut of least cost, in order; each regime begins after the last point of the one before."""
        return self._regimes.best

    def best_lines(self) -> PiecewiseLine:
        """The lines of the best cut."""
        segments = self.segments(self.best)
        columns = zip(*((each.upper_B, each.alpha_s, each.beta_s_per_B) for each in segments), strict=True)
        return PiecewiseLine(*map(np.array, columns))

    def like(self, time_s: Array) -> SizeCurve:
        """The curve of other times at the same sizes, with the same noise and stated breaks."""
        return SizeCurve(self.size_B, time_s, self.noise, self.eager_limit_B, self.breaks_B)

    def segments(self, stretches: Sequence[Stretch]) -> list[SizeSegment]:
        """The lines of `stretches`, which cover the curve in order, and where they end."""
        return [SizeSegment(*piece) for piece in self._regimes.pieces(stretches)]

    def gain(self, before: Stretch, after: Stretch) -> float:
        """What the break between two neighbouring regimes saves beyond its cost, in squared `LEAST_NOISE`."""
        return self._regimes.gain(*before, after[1])


@dataclass(frozen=True)
class DoubtfulBreak:
    """The gap low_B to high_B between two regimes, and the share of drawn curves in which it recurred."""

    low_B: float
    high_B: float
    share: float

    @property
    def recurs(self) -> bool:
        return self.share >= RECURS


def recurring(curve: SizeCurve) -> tuple[list[Stretch], list[DoubtfulBreak]]:
    """The best cut of `curve` less the breaks that do not recur, and every break that had to be drawn anew.

    The times are drawn log-normal with the noise of the curve. Where there is none nothing is drawn, nor for
    breaks that are beyond doubt. A break recurs where a drawn curve has one in the same gap or in one beside it.
    The regimes on either side of a break that does not recur become a single one.
    """
    stretches = curve.best
    doubtful = [before[1] for before, after in pairwise(stretches) if curve.gain(before, after) < SETTLED]
    if not doubtful or not np.any(curve.noise > 0):
        return stretches, []
    deviations = curve.noise * np.random.default_rng(0).standard_normal((ROUNDS, curve.noise.size))
    times_s = curve.time_s * np.exp(np.clip(deviations, -MOST_REACH, MOST_REACH))
    drawn = [{last for _, last in curve.like(time_s).best[:-1]} for time_s in times_s]
    judged, left = [], [last for _, last in stretches]
    for last in doubtful:
        hits = sum(bool(lasts & {last - 1, last, last + 1}) for lasts in drawn)
        judged.append(DoubtfulBreak(curve.size_B[last], curve.size_B[last + 1], hits / ROUNDS))
        if not judged[-1].recurs:
            left.remove(last)
    return list(zip([0, *(last + 1 for last in left[:-1])], left, strict=True)), judged
