"""Which breaks of a curve recur when its points are drawn anew from the intervals that its visits left."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hockney.models._segments import Curve, Stretch
from hockney.statistics import MOST_REACH

ROUNDS = 20
"""Curves drawn."""

RECURS = 0.9
"""The share of the drawn curves in which a break has to recur."""

SETTLED = 25.0
"""A break that saves as much beyond its cost is five standard errors from none: it recurs, drawn or not."""


@dataclass(frozen=True)
class Break:
    """The gap low_B to high_B between two regimes, and the share of drawn curves in which it recurred."""

    low_B: float
    high_B: float
    share: float

    @property
    def recurs(self) -> bool:
        return self.share >= RECURS


def recurring(curve: Curve) -> tuple[list[Stretch], list[Break]]:
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
        judged.append(Break(curve.size_B[before.last], curve.size_B[after.first], hits / ROUNDS))
        if not judged[-1].recurs:
            stretches = _merged(stretches, before, after)
    return stretches, judged


def _breaks(stretches: list[Stretch]) -> list[tuple[Stretch, Stretch]]:
    """Each regime with the next one; where joins end the curve, its last point stands for the next one."""
    regimes = [stretch for stretch in stretches if not stretch.joins]
    end = stretches[-1].last
    return list(pairwise(regimes + [Stretch(end, end)] * stretches[-1].joins))


def _is_doubtful(curve: Curve, stretches: list[Stretch], pair: tuple[Stretch, Stretch]) -> bool:
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
