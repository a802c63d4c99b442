"""Straight lines of time against ranks between the places where a cache, a socket or a node is full.

On each, a ring takes T(P) = c + 2λP with λ the latency of a message (`ring_segments`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.regression import Regression, regressions
from hockney.models.over_ranks.search import search
from hockney.models.over_ranks.steps import FoundStep
from hockney.records.record import Locality
from hockney.statistics import Array, least_squares, t_reach

LEAST_LEVEL, LEAST_SLOPE = 1.05, 1.25
"""Ratio of levels or of slopes that a reader would call a break of a line."""
LEAST_SIDE = 3
"""Points on a side of a boundary that are evidence of a line."""


@dataclass(frozen=True)
class Jump:
    """A break of lines between `before` and `after` ranks: a boundary in its range, or its likeliest place.

    The level rises by `level_ratio`, the cost of a further rank by `slope_ratio` (None where it was not positive
    before). `boundary`: the level that begins in the range, None where none does.
    """

    before: int
    after: int
    level_ratio: float
    slope_ratio: float | None
    p_value: float
    boundary: Locality | None = None


@dataclass(frozen=True)
class Segment:
    """T(P) ≈ c₀ + c₁P for `first` ≤ P ≤ `last`, by least squares of relative residuals; no fit: too few points.

    `absolute` is the fit to the residuals themselves, as numpy's `polyfit` makes it. `begins`: what begins to be
    used at `first`, None at the start of the curve and at a break where nothing does.
    """

    first: int
    last: int
    points: int
    begins: Locality | None
    fit: Regression | None
    absolute: Regression | None = None

    def slope_s(self, *, absolute: bool = False) -> tuple[float, float, float] | None:
        """Seconds per further rank and its 95 % interval (Student's t), of the fit or of the absolute one."""
        fit = self.absolute if absolute else self.fit
        if fit is None:
            return None
        slope_s = fit.coefficients[1]
        wide_s = t_reach(fit.standard_errors[1], self.points - 2)
        return slope_s, slope_s - wide_s, slope_s + wide_s

    def at(self, ranks: Array, *, absolute: bool = False) -> Array | None:
        """The line, shape of `ranks`, in seconds; that of the absolute fit where asked for."""
        fit = self.absolute if absolute else self.fit
        return None if fit is None else fit.coefficients[0] + fit.coefficients[1] * ranks


@dataclass(frozen=True)
class Segments:
    """`segments` in the order of P. `examined`: whether time breaks at each boundary inside the curve.

    None there: too few points on a side to tell. `breaks`: where a further segment begins, in the order of P.
    """

    segments: list[Segment]
    examined: dict[Boundary, bool | None]
    breaks: list[Jump]


def segments(ranks: Array, time_s: Array, expected: Sequence[Boundary]) -> Segments:
    """Lines of T(P), shape (points,), between the breaks that `search` finds, wherever they are.

    What begins in the range of a break, of `expected`, is named. Fewer than five points have no line.
    """
    order = np.argsort(ranks)
    at, time = ranks[order], time_s[order]
    found: list[FoundStep] = []
    # Of two breaks with too few points for a line between them, the clearer one is where a line begins.
    for step in sorted(search({"": (at, time)}), key=lambda one: one.together.p_value or 0.0):
        between = (
            np.abs(np.searchsorted(at, step.at.after) - np.searchsorted(at, other.at.after)) for other in found
        )
        if all(points >= LEAST_SIDE for points in between):
            found.append(step)
    found.sort(key=lambda step: step.at)
    named = [next((boundary for boundary in expected if step.holds(boundary)), None) for step in found]
    ends = [
        0,
        *(int(np.searchsorted(at, (one or step.at).after)) for one, step in zip(named, found, strict=True)),
        at.size,
    ]
    every = [
        _jump(at, time, ends[n : n + 3], step, one)
        for n, (one, step) in enumerate(zip(named, found, strict=True))
    ]
    breaks = list(filter(None, every))
    splits = [0, *(int(np.searchsorted(at, jump.after)) for jump in breaks), at.size]
    stretches = []
    for index, (start, end) in enumerate(pairwise(splits)):
        if end == start:
            continue
        fits = regressions(at[start:end], time[start:end])
        lines = {fit.weights: fit for fit in fits if fit.degree == 1}
        stretches.append(
            Segment(
                int(at[start]),
                int(at[end - 1]),
                end - start,
                breaks[index - 1].boundary if index else None,
                lines.get("relative"),
                lines.get("absolute"),
            )
        )
    return Segments(stretches, _examined(at, expected, breaks), breaks)


def _examined(at: Array, expected: Sequence[Boundary], breaks: Sequence[Jump]) -> dict[Boundary, bool | None]:
    """Each boundary inside a curve, and whether a break lies there."""
    inside = [each for each in expected if at.size and at[0] <= each.before and each.after <= at[-1]]
    points = np.diff([0, *np.searchsorted(at, [each.after for each in inside]), at.size])
    broken = {(jump.before, jump.after) for jump in breaks}
    return {
        one: (one.before, one.after) in broken if min(sides) >= LEAST_SIDE else None
        for one, sides in zip(inside, pairwise(points), strict=True)
    }


def _jump(at: Array, time: Array, ends: Sequence[int], step: FoundStep, boundary: Boundary | None) -> Jump | None:
    """The ratios of the lines on either side of a break, in the middle of the gap; None where neither counts.

    `ends`: the first points of the line before, of the line after, and of the one beyond.
    """
    first, split, last = ends
    middle = (at[split - 1] + at[split]) / 2
    lines = []
    for side in (slice(first, split), slice(split, last)):
        design = np.column_stack([np.ones_like(at[side]), at[side] - middle])
        lines.append(least_squares(design, time[side], 1 / time[side]).value)
    (level, slope), (level_after, slope_after) = lines
    if level <= 0 or level_after <= 0:
        return None
    steeper = slope_after / slope if slope > 0 and slope_after > 0 else np.inf
    is_small = max(level / level_after, level_after / level) < LEAST_LEVEL
    if is_small and max(steeper, 1 / steeper) < LEAST_SLOPE:
        return None
    return Jump(
        int(at[split - 1]),
        int(at[split]),
        float(level_after / level),
        float(slope_after / slope) if slope > 0 else None,
        step.together.p_value or 0.0,
        None if boundary is None else boundary.level,
    )
