"""Breaks of time against ranks, where a cache, a socket or a node is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hockney.models.over_ranks.boundaries import Boundary
from hockney.records.record import Locality

Array = NDArray[np.float64]

LEAST_WINDOW = 6
WINDOW_SHARE = 0.2
"""Points on either side that two lines are compared on: this share of the curve, and at least so many."""
LEAST_SIDE = 3
"""Points on a side that are evidence of a line."""
SIGNIFICANCE = 1e-4
"""One chance finding in some hundred curves of a hundred points."""
NOTABLE = 1.2, 2.0
"""Ratio of level or of slope that a reader would call a break."""
EXPECTED = 1.05, 1.25
"""The same where a break is expected: at a boundary that the placement tells, nothing is searched for."""
LEAST_MISFIT = 0.02
"""A single line that misses by less (root mean square, relative) is good enough, however significant."""
SPAN = 4
"""A boundary's neighbourhood ends at this factor of its rank count: a smooth curve bends little there."""
LEAST_EXPLAINED = 0.01
"""What a break at a boundary explains at least (root mean square, relative)."""


@dataclass(frozen=True)
class Jump:
    """A break between `before` and `after` ranks.

    The level rises by `level_ratio`, the cost of a further rank by `slope_ratio` (None where it was not positive
    before). `boundary`: the level that begins there, None where none does.
    """

    before: int
    after: int
    level_ratio: float
    slope_ratio: float | None
    p_value: float
    boundary: Locality | None = None


@dataclass(frozen=True)
class Examined:
    """A boundary inside a curve. `jump` None: no break; `possible` False: too few points on a side to tell."""

    boundary: Boundary
    possible: bool
    jump: Jump | None


def jumps(ranks: Array, time_s: Array, tested: Sequence[Examined] = ()) -> list[Jump]:
    """Breaks of a curve T(P), in the order of P, by relative residuals: early ones count as much as late ones.

    At each place the points on either side are fitted by one line and by two; an F-test tells whether two are
    needed. Of neighbouring findings the clearest stays. Fewer than three points on a side are no evidence.
    What `at_boundaries` found is joined; a finding of the scan so near to one of these is the same break.
    """
    at, time = _ordered(ranks, time_s)
    window = max(LEAST_WINDOW, round(WINDOW_SHARE * at.size))
    kept = [(_split(at, examined.jump), examined.jump) for examined in tested if examined.jump is not None]
    names = {(examined.boundary.before, examined.boundary.after): examined.boundary.level for examined in tested}
    candidates: list[tuple[int, Jump]] = []
    for split in range(LEAST_SIDE, at.size - LEAST_SIDE + 1):
        left, right = slice(max(0, split - window), split), slice(split, min(at.size, split + window))
        if (jump := _compare(at, time, left, right)) is not None:
            candidates.append((split, jump))
    for split, jump in sorted(candidates, key=lambda entry: entry[1].p_value):
        if all(abs(split - other) >= window // 2 for other, _ in kept):
            kept.append((split, replace(jump, boundary=names.get((jump.before, jump.after)))))
    return [jump for _, jump in sorted(kept, key=lambda entry: entry[0])]


def at_boundaries(ranks: Array, time_s: Array, expected: Sequence[Boundary]) -> list[Examined]:
    """Is there a break of level or slope at each boundary inside the curve?

    Between the neighbouring boundaries the curve may bend (1, P, P², log P); a step and a change of slope are
    tested against that, so that a smooth curve has none, at `SIGNIFICANCE` over the number of boundaries. Where a
    break elsewhere between the neighbours explains the points better (likelihood ratio, `SIGNIFICANCE`), one at
    the boundary has to be needed besides. Ratios are of the two lines.
    """
    at, time = _ordered(ranks, time_s)
    inside = [
        boundary for boundary in expected if at.size and at[0] <= boundary.before and boundary.after <= at[-1]
    ]
    ends = [0, *(int(np.searchsorted(at, boundary.after)) for boundary in inside), at.size]
    tested = []
    for boundary, (first, split), (_, last) in zip(inside, pairwise(ends[:-1]), pairwise(ends[1:]), strict=True):
        first = max(first, int(np.searchsorted(at, boundary.before / SPAN)))
        last = min(last, int(np.searchsorted(at, boundary.after * SPAN, side="right")))
        possible = min(split - first, last - split) >= LEAST_SIDE and last - first > _MOST_PARAMETERS
        significance = SIGNIFICANCE / len(inside)
        jump = _expected(at[first:last], time[first:last], split - first, significance) if possible else None
        named = None if jump is None else replace(jump, boundary=boundary.level)
        tested.append(Examined(boundary, possible, named))
    return tested


def lasting(ranks: Array, time_s: Array, expected: Sequence[Boundary]) -> list[Jump]:
    """The breaks of a curve that neither a smooth curve nor one point explains, in the order of P.

    Those at `expected` boundaries and those of the scan, which takes every bend for a break: each is tested as if
    a boundary were there, with all points and without each of the `LEAST_SIDE` nearest on either side.
    """
    at, time = _ordered(ranks, time_s)
    result = []
    for jump in jumps(at, time, at_boundaries(at, time, expected)):
        place = Boundary(jump.before, jump.after, jump.boundary or "node")
        others = [one for one in expected if one.after <= place.before or place.after <= one.before]
        places = sorted([*others, place], key=lambda one: one.before)

        def broken(at: Array, time: Array, place: Boundary = place, places: Sequence[Boundary] = places) -> bool:
            tested = at_boundaries(at, time, places)
            return any(one.jump is not None for one in tested if one.boundary == place)

        split = _split(at, jump)
        near = range(max(split - LEAST_SIDE, 0), min(split + LEAST_SIDE, at.size))
        if broken(at, time) and all(broken(np.delete(at, i), np.delete(time, i)) for i in near):
            result.append(jump)
    return result


_MOST_PARAMETERS = 8
"""The parameters of a smooth curve (1, P, P², log P) with two steps and two changes of slope."""


def _expected(at: Array, time: Array, split: int, significance: float) -> Jump | None:
    count = at.size
    scaled = (at - at.mean()) / (at[-1] - at[0])
    smooth = np.column_stack([np.vander(scaled, 3), np.log(at)])
    designs = {
        place: np.column_stack([smooth, *_broken(scaled, place)])
        for place in range(LEAST_SIDE, count - LEAST_SIDE + 1)
    }
    sses = {place: _sse(design, time) for place, design in designs.items()}
    without = _sse(smooth, time)
    p_value = _needed(without, sses[split], count, _MOST_PARAMETERS - 2)
    if p_value > significance or without - sses[split] < count * LEAST_EXPLAINED**2:
        return None
    best = min(sses, key=lambda place: sses[place])
    if special.chdtrc(1, count * np.log(sses[split] / max(sses[best], 1e-12 * without))) < significance:
        both = _sse(np.column_stack([designs[best], *_broken(scaled, split)]), time)
        if _needed(sses[best], both, count, _MOST_PARAMETERS) > significance:
            return None
    return _jump(at, time, slice(0, split), slice(split, count), p_value, EXPECTED)


def _needed(fewer_sse: float, more_sse: float, count: int, parameters: int) -> float:
    """p of an F-test: two parameters more, `parameters` in all, improve the fit by chance."""
    more_sse, freedom = max(more_sse, 1e-12 * fewer_sse), count - parameters
    # By rounding it may be less by nothing.
    gain = max(fewer_sse - more_sse, 0.0)
    return float(special.fdtrc(2, freedom, gain / 2 / (more_sse / freedom))) if more_sse > 0 else 1.0


def _broken(at: Array, place: int) -> tuple[Array, Array]:
    """A step and a change of slope in the middle of the gap before `place`."""
    beyond = at - (at[place - 1] + at[place]) / 2
    return (beyond > 0).astype(np.float64), np.maximum(beyond, 0.0)


def _compare(at: Array, time: Array, left: slice, right: slice) -> Jump | None:
    both = slice(left.start, right.stop)
    count = both.stop - both.start
    if count < 6:
        return None
    one_sse = _line(at[both], time[both])[1]
    if np.sqrt(one_sse / count) < LEAST_MISFIT:
        return None
    two_sse = _line(at[left], time[left])[1] + _line(at[right], time[right])[1]
    p_value = _needed(one_sse, two_sse, count, 4)
    return None if p_value > SIGNIFICANCE else _jump(at, time, left, right, p_value, NOTABLE)


def _jump(
    at: Array, time: Array, left: slice, right: slice, p_value: float, notable: tuple[float, float]
) -> Jump | None:
    """The ratios of the lines on either side, in the middle of the gap; None where neither is `notable`."""
    (low, _), (high, _) = _line(at[left], time[left]), _line(at[right], time[right])
    middle = (at[left.stop - 1] + at[right.start]) / 2
    level_before, level_after = low[0] + low[1] * middle, high[0] + high[1] * middle
    if level_before <= 0 or level_after <= 0:
        return None
    rise = max(level_after / level_before, level_before / level_after)
    steeper = high[1] / low[1] if low[1] > 0 and high[1] > 0 else np.inf
    if rise < notable[0] and max(steeper, 1 / steeper) < notable[1]:
        return None
    return Jump(
        int(at[left.stop - 1]),
        int(at[right.start]),
        float(level_after / level_before),
        float(high[1] / low[1]) if low[1] > 0 else None,
        p_value,
    )


def _ordered(ranks: Array, time_s: Array) -> tuple[Array, Array]:
    order = np.argsort(ranks)
    return ranks[order], time_s[order]


def _split(at: Array, jump: Jump) -> int:
    return int(np.searchsorted(at, jump.after))


def _line(at: Array, time: Array) -> tuple[tuple[float, float], float]:
    """Intercept and slope by relative least squares, and the sum of squared relative residuals."""
    solution, sse = _fit(np.column_stack([np.ones_like(at), at]), time)
    return (float(solution[0]), float(solution[1])), sse


def _sse(design: Array, time: Array) -> float:
    return _fit(design, time)[1]


def _fit(design: Array, time: Array) -> tuple[Array, float]:
    relative = design / time[:, None]
    solution, *_ = np.linalg.lstsq(relative, np.ones_like(time), rcond=None)
    residual = 1 - relative @ solution
    return np.asarray(solution, np.float64), float(residual @ residual)
