"""A curve cut into straight regimes (the search: cpp/fit/regimes.hpp), with their lines and where these end.

Across a gap in which two regimes do not meet (a jump, somewhere between two sizes), through sizes that belong to
no regime, and on to the largest size, joins lead from one measured size to the next. A join claims no more than
interpolation would. Where the empty message stands alone, T(0) is what was measured.

Which breaks recur is seen when the points are drawn anew from the intervals that their visits left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from hockney._core import Regimes
from hockney.models._lines import PiecewiseLine
from hockney.statistics import MOST_REACH, Array

ROUNDS = 20
"""Curves drawn."""

RECURS = 0.9
"""The share of the drawn curves in which a break has to recur."""

SETTLED = 25.0
"""A break that saves as much beyond its cost is five standard errors from none: it recurs, drawn or not."""


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


class SizeCurve:
    """A curve of N ≤ `Regimes.MOST_POINTS` points, sizes increasing, with the `best` cut of it.

    `noise` (N,) is the relative standard error of each point: one that is less certain than others weighs less.
    `eager_limit_B` and `breaks_B` are the sizes at which the library says that it does something else.
    `sigma` is the scatter that needs no explanation: more than that of a quiet measurement where the best cut
    would otherwise have more regimes than a person can read.
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
        self.sigma = self._regimes.sigma

    @cached_property
    def best(self) -> list[Stretch]:
        """The cut of least cost."""
        return [Stretch(*stretch) for stretch in self._regimes.best]

    def best_lines(self) -> PiecewiseLine:
        """The lines of the best cut."""
        _, _, _, alpha_s, beta_s_per_B, upper_B, _ = zip(*self._regimes.pieces(self._regimes.best), strict=True)
        return PiecewiseLine(np.array(upper_B), np.array(alpha_s), np.array(beta_s_per_B))

    def like(self, time_s: Array) -> SizeCurve:
        """The curve of other times at the same sizes, with the same noise and stated breaks."""
        return SizeCurve(self.size_B, time_s, self.noise, self.eager_limit_B, self.breaks_B)

    def segments(self, stretches: Sequence[Stretch]) -> list[SizeSegment]:
        """The lines of `stretches`, which cover the curve in order, and where they end."""
        cut = [(stretch.first, stretch.last, stretch.joins) for stretch in stretches]
        return [SizeSegment(*piece) for piece in self._regimes.pieces(cut)]

    def gain(self, before: Stretch, after: Stretch, joins: int) -> float:
        """What a break between two regimes saves beyond its cost, in units of `sigma`²."""
        return self._regimes.gain(before.first, before.last, after.first, after.last, joins)


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
    stretches = list(curve.best)
    doubtful = [pair for pair in _breaks(stretches) if _is_doubtful(curve, stretches, pair)]
    if not doubtful or not np.any(curve.noise > 0):
        return stretches, []
    deviations = curve.noise * np.random.default_rng(0).standard_normal((ROUNDS, curve.noise.size))
    times_s = curve.time_s * np.exp(np.clip(deviations, -MOST_REACH, MOST_REACH))
    drawn = [curve.like(time_s).best for time_s in times_s]
    judged = []
    for before, after in doubtful:
        hits = sum(_has_break(cut, before.last - 1, after.first + 1) for cut in drawn)
        judged.append(DoubtfulBreak(curve.size_B[before.last], curve.size_B[after.first], hits / ROUNDS))
        if not judged[-1].recurs:
            stretches = _merged(stretches, before, after)
    return stretches, judged


def _breaks(stretches: list[Stretch]) -> list[tuple[Stretch, Stretch]]:
    """Each regime with the next one; where joins end the curve, its last point stands for the next one."""
    regimes = [stretch for stretch in stretches if not stretch.joins]
    end = stretches[-1].last
    return list(pairwise(regimes + [Stretch(end, end)] * stretches[-1].joins))


def _is_doubtful(curve: SizeCurve, stretches: list[Stretch], pair: tuple[Stretch, Stretch]) -> bool:
    before, after = pair
    joins = sum(stretch.joins and before.last <= stretch.first < after.first for stretch in stretches)
    return curve.gain(before, after, joins) < SETTLED


def _has_break(stretches: list[Stretch], first: int, last: int) -> bool:
    """Whether some regime ends, or the next begins, at the points first … last."""
    return any(before.last <= last and after.first >= first for before, after in _breaks(stretches))


def _merged(stretches: list[Stretch], before: Stretch, after: Stretch) -> list[Stretch]:
    """`stretches` with one regime in place of the two regimes at these points and of what joins them."""
    first = next(stretch.first for stretch in stretches if stretch.last >= before.last and not stretch.joins)
    last = next(
        (stretch.last for stretch in stretches if stretch.last >= after.last and not stretch.joins), after.last
    )
    return [
        *(stretch for stretch in stretches if stretch.last <= first and stretch.first < first),
        Stretch(first, last),
        *(stretch for stretch in stretches if stretch.first >= last),
    ]
