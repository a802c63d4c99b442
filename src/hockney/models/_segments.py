"""A curve cut into straight regimes (the search: cpp/fit/regimes.hpp), with their lines and where these end.

Across a gap in which two regimes do not meet (a jump, somewhere between two sizes), through sizes that belong to
no regime, and on to the largest size, joins lead from one measured size to the next. A join claims no more than
interpolation would. Where the empty message stands alone, T(0) is what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney._core import Regimes
from hockney.models._linear import PiecewiseLine
from hockney.statistics import Array


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


class Curve:
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

    def like(self, time_s: Array) -> Curve:
        """The curve of other times at the same sizes, with the same noise and stated breaks."""
        return Curve(self.size_B, time_s, self.noise, self.eager_limit_B, self.breaks_B)

    def segments(self, stretches: Sequence[Stretch]) -> list[SizeSegment]:
        """The lines of `stretches`, which cover the curve in order, and where they end."""
        cut = [(stretch.first, stretch.last, stretch.joins) for stretch in stretches]
        return [SizeSegment(*piece) for piece in self._regimes.pieces(cut)]

    def gain(self, before: Stretch, after: Stretch, joins: int) -> float:
        """What a break between two regimes saves beyond its cost, in units of `sigma`²."""
        return self._regimes.gain(before.first, before.last, after.first, after.last, joins)
