"""Cut a curve into straight regimes: number and place of the breaks chosen together by dynamic programming.

The best of all cuts into one to six regimes minimises

    Σ ((α + βn − T)/T)² / σ²  +  PENALTY per regime  +  the cost of every gap whose inside is not known,

after Bellman (1961, "On the approximation of curves by line segments using dynamic programming") with the
penalty of an information criterion. Neighbouring regimes are joined in one of three ways:

- they share a measured point;
- they lie on either side of a gap between two points, and their lines meet inside it: the break is there;
- they do not meet: a jump, somewhere in the gap. Which regime holds in the gap is then not known, and half the
  time a point there is predicted wrong by the height of the jump. That expectation is the cost, up to a limit,
  in proportion to the width of the gap: a jump that was bracketed by measurements costs next to nothing, one
  between sizes far apart is bridged by a regime of its own instead. A jump downwards is cheap at any width,
  because its bridge would promise a bandwidth that neither neighbour has. A jump at the eager limit that the
  library states is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.models._linear import PiecewiseLine, SegmentLines, nonnegative_lines
from hockney.statistics import Array

MAX_REGIMES = 6
"""The most regimes that a person can still read."""

NOISE = 0.02
"""A deviation below this is not worth a regime, however quiet the measurement."""

PENALTY = 4.0
"""Cost of a regime: roughly ln N per two parameters and a break, at the 10 to 30 sizes of a series."""

JUMP_UP, JUMP_DOWN = 50.0, 5.0
"""Limits of the cost of a jump whose place is not known, at a gap of `GAP` or wider."""

GAP = 4.0
"""Ratio of neighbouring sizes beyond which a gap counts in full."""

KINK_POINTS = 3
"""Points on either side without which two lines are not taken to meet between points."""

LONE = 8.0
"""Further cost of a regime of one point, which has no slope; n = 0 may be one without it."""


@dataclass(frozen=True)
class SizeSegment:
    """Points first … last (inclusive) on one line, which holds up to and including `upper_B`."""

    first: int
    last: int
    alpha_s: float
    beta_s_per_B: float
    upper_B: float


def lines_of(segments: list[SizeSegment]) -> PiecewiseLine:
    return PiecewiseLine(
        np.array([segment.upper_B for segment in segments]),
        np.array([segment.alpha_s for segment in segments]),
        np.array([segment.beta_s_per_B for segment in segments]),
    )


def cut(size_B: Array, time_s: Array, noise: float, eager_limit_B: float | None) -> list[SizeSegment]:
    """Segments of a curve of shape (N,), sizes increasing; `noise` is the relative scatter of a point."""
    sigma = max(noise, NOISE)
    lines = nonnegative_lines(size_B, time_s)
    cost = lines.cost / sigma**2 + PENALTY
    cost[np.diag_indices_from(cost)] += np.where(size_B > 0, LONE, 0.0)
    joins = _gap_costs(size_B, lines, sigma, eager_limit_B)
    # states[k][i, j]: least cost of k + 1 regimes over points 0 … j of which the last begins at i.
    state = np.full_like(cost, np.inf)
    state[0] = cost[0]
    states, before = [state], []
    every = np.arange(size_B.size)
    shared_cost = cost.copy()
    # A regime that shares its first point needs another one; the first regime shares with none.
    shared_cost[every, every] = np.inf
    shared_cost[0] = np.inf
    for _ in range(1, min(MAX_REGIMES, size_B.size)):
        # A lone point has nothing left once the next regime takes it too.
        shareable = np.where(np.eye(size_B.size, dtype=np.bool_), np.inf, state)
        start = np.argmin(shareable, axis=0)
        shared = shareable[start, every][:, None] + shared_cost
        over_gap = state[:, :-1, None] + joins
        gap_start = np.argmin(over_gap, axis=0)
        apart = np.full_like(cost, np.inf)
        apart[1:] = np.take_along_axis(over_gap, gap_start[None], axis=0)[0] + cost[1:]
        # Where both cost the same, up to rounding, a clean break is easier to read.
        jumped = apart <= shared + 1e-9
        from_gap = np.vstack([np.zeros((1, size_B.size), dtype=gap_start.dtype), gap_start])
        before.append((jumped, np.where(jumped, from_gap, start[:, None])))
        state = np.where(jumped, apart, shared)
        states.append(state)
    return _trace(size_B, lines, states, before, eager_limit_B)


def _gap_costs(size_B: Array, lines: SegmentLines, sigma: float, eager_limit_B: float | None) -> Array:
    """[i, j, m]: cost of joining the regime i … j to the regime j + 1 … m across the gap between."""
    low, high = size_B[:-1], size_B[1:]
    middle = _middle(low, high)[None, :, None]
    alpha, beta = lines.alpha_s[:, :-1, None], lines.beta_s_per_B[:, :-1, None]
    next_alpha, next_beta = lines.alpha_s[None, 1:], lines.beta_s_per_B[None, 1:]
    width = np.minimum(1.0, np.log(high / np.maximum(low, 0.5)) / np.log(GAP))[None, :, None]
    place = np.arange(size_B.size)
    points = place - place[:, None] + 1
    enough = np.minimum(points[:, :-1, None], points[None, 1:]) >= KINK_POINTS
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        meet = (next_alpha - alpha) / (beta - next_beta)
        meets = (meet >= low[None, :, None]) & (meet <= high[None, :, None])
        height = np.log((next_alpha + next_beta * middle) / (alpha + beta * middle))
        limit = np.where(height > 0, JUMP_UP, JUMP_DOWN)
        jump = width * np.minimum(limit, 0.25 * (height / sigma) ** 2)
        joins = np.where(meets, np.where(enough, 0.0, width * JUMP_UP), jump)
    joins[~np.isfinite(joins)] = np.inf
    # Between neighbouring integers there is no size of which one could be unsure.
    joins = np.where((high - low <= 1)[None, :, None], 0.0, joins)
    valid = (points[:, :-1, None] >= 1) & (points[None, 1:] >= 1)
    if eager_limit_B is not None:
        here = (low <= eager_limit_B) & (eager_limit_B <= high)
        joins = np.where(here[None, :, None], 0.0, joins)
    return np.where(valid, joins, np.inf)


def _middle(low: Array, high: Array) -> Array:
    """Geometric mean; half of `high` where `low` is zero."""
    return np.asarray(np.where(low > 0, np.sqrt(low * high), high / 2))


def _trace(
    size_B: Array,
    lines: SegmentLines,
    states: list[Array],
    before: list[tuple[NDArray[np.bool_], NDArray[np.intp]]],
    eager_limit_B: float | None,
) -> list[SizeSegment]:
    last = size_B.size - 1
    # Beyond the largest size the last regime is all there is: it needs a slope.
    grows = lines.beta_s_per_B[:, last] > 0
    ends = np.array([np.where(grows, state[:, last], np.inf) for state in states])
    if not np.isfinite(ends).any():
        ends = np.array([state[:, last] for state in states])
    count, first = (int(index) for index in np.unravel_index(np.argmin(ends), ends.shape))
    stretches = [(first, last)]
    for jumped, start in reversed(before[:count]):
        first, last = int(start[first, last]), (first - 1 if jumped[first, last] else first)
        stretches.append((first, last))
    stretches.reverse()
    segments = []
    for number, (first, last) in enumerate(stretches):
        upper = np.inf
        if number + 1 < len(stretches):
            upper = _break(size_B, lines, stretches[number], stretches[number + 1], eager_limit_B)
        segments.append(
            SizeSegment(
                *(first, last, float(lines.alpha_s[first, last]), float(lines.beta_s_per_B[first, last])), upper
            )
        )
    return segments


def _break(
    size_B: Array,
    lines: SegmentLines,
    left: tuple[int, int],
    right: tuple[int, int],
    eager_limit_B: float | None,
) -> float:
    """The size in bytes at which one regime ends and the next begins."""
    shared = left[1] == right[0]
    low, high = size_B[left[1]], size_B[right[0]]
    if shared:
        # No farther than halfway to the next point, so that breaks keep their order.
        low = _middle(size_B[left[1] - 1], low)
        high = _middle(high, size_B[right[0] + 1])
    if not shared and eager_limit_B is not None and low <= eager_limit_B <= high:
        # The message of exactly the limit can be on either side: some libraries count their header.
        return float(eager_limit_B - 1 if eager_limit_B == high else eager_limit_B)
    slope = lines.beta_s_per_B[left] - lines.beta_s_per_B[right]
    meet = (lines.alpha_s[right] - lines.alpha_s[left]) / slope if slope != 0 else np.nan
    if low <= meet <= high:
        return float(meet)
    return float(size_B[left[1]] if shared else _middle(low, high))
