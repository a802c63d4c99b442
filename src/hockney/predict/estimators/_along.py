"""How times grow along one axis (nodes, bytes, ranks a node) beyond what was measured there.

Several simple ways continue a curve from its last point. Growing windows say how far off each is: curves cut
short predict their own ends. These errors weigh a median of the ways, and what it misses there is the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.predict.estimators.base import Array
from hockney.statistics import CONFIDENCE, nonnegative_least_squares

WAYS = ("no growth", "the last slope", "a line", "a logarithm", "a sum of forms", "the textbook formula")
"""No growth; the last slope in logarithms; a + b·x; a + b·ln x; a sum of forms in P and S; the closed form."""
SHARES = np.array([1.0, 0.6, 0.6, 0.6, 0.6, 0.4])
"""What each way is taken to miss, by what no growth misses, for as much as `PRIOR_COUNT` points."""
NO_GROWTH = 0.5
"""In ln: what that is taken to miss."""
PRIOR_COUNT = 4.0
POOLED = 0.2
"""What a point of another algorithm or placement counts."""
MOST = 1.0
"""In ln: a larger error counts as this one."""
NEAR = np.log(1.6)
"""A slope goes back so far at least: numbers of ranks that are nearer tell noise."""
SLOPES = (-0.3, 1.3)
"""Of ln time over ln x: no way falls or rises faster."""
LEAST = 1e-3
"""Share of the last time that a line may fall to."""
WINDOWS = np.log(2) * np.array([0.3, 0.75, 1.5, 2.25, 3.0, 4.5, 6.0])
"""How far before the end of a curve windows end."""
CLOSE = 0.5
"""In ln: errors grow as the distance beyond the last point and this."""
LEAST_REACH = 0.35
"""In ln by unit of that: nothing is known better."""
UNSEEN, FEWEST = 0.5, 10
"""The same where no window says it, half way between no growth and proportional; it counts as so many points."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Times along an axis, the last row is the edge from which they are extrapolated.

    `along` (n,): ln places on the axis, the rows asked for after the `len(ln_s)` measured ones. `ln_s` (r, c): ln
    seconds, NaN where unknown; `measured` (r, c): which of them are no estimates. `ranks`, `size_B` (n, c);
    `counts` (n, c, 3) of the closed form, NaN without one. `is_size`: the axis is the bytes.
    """

    along: Array
    ln_s: Array
    measured: NDArray[np.bool_]
    ranks: Array
    size_B: Array
    counts: Array
    is_size: bool

    def grown(self, known: int) -> tuple[Array, Array, Array]:
        """From the first `known` rows: what each way adds in ln to the last known time of a curve at the rows
        after, shape (ways, rows, c), NaN where it can't; how far these lie, (rows, c); and that time, (c,)."""
        ln_s, is_known = self.ln_s[:known], np.isfinite(self.ln_s[:known])
        rows, curve = np.arange(known)[:, None], np.arange(ln_s.shape[1])
        edge = np.where(is_known, rows, -1).max(axis=0)
        end, last = self.along[edge], np.where(edge >= 0, ln_s[edge, curve], np.nan)
        far = self.along[known:, None] - end
        back = np.where(is_known & (np.abs(self.along[:known, None] - end) >= NEAR), rows, -1).max(axis=0)
        first = np.where(is_known, rows, known).min(axis=0)
        back = np.where(back >= 0, back, np.where(first < edge, first, edge))
        several = back < edge
        rise = np.divide(
            last - ln_s[back, curve], end - self.along[back], out=np.zeros(last.shape), where=several
        )
        slope = _smoothed(rise) * far
        added = np.array([np.zeros(far.shape), slope, *self._lines(known, edge), *self._fits(known, edge)])
        # One place on the axis shows no growth; fits know it by what else varies.
        added[1:4, :, ~several] = np.nan
        if self.is_size:
            # A message takes a + b·S, whose second term the other ways do not expect before it shows.
            added[[1, 3]] = np.nan
        added[0, np.isnan(added[1:]).all(axis=0) | self.is_size] = np.nan
        ends = np.sort([far * slope for slope in SLOPES], axis=0)
        return np.clip(added, *ends), np.abs(far), last

    def _lines(self, known: int, edge: NDArray[np.intp]) -> list[Array]:
        """By a + b·x and a + b·ln x through the last point, b ≥ 0 of least squares of the ratios."""
        curve = np.arange(edge.size)
        ratio = np.exp(self.ln_s[:known] - self.ln_s[edge, curve])
        weight = np.where(np.isfinite(ratio), 1 / ratio**2, 0.0)
        lines = []
        for at in (np.exp(self.along), self.along):
            apart = at[:, None] - at[edge]
            over = (weight * apart[:known] * (np.where(weight > 0, ratio, 1.0) - 1)).sum(axis=0)
            under = (weight * apart[:known] ** 2).sum(axis=0)
            rise = np.divide(over, under, out=np.zeros(edge.shape), where=under > 0)
            lines.append(np.log(np.maximum(1 + np.maximum(rise, 0.0) * apart[known:], LEAST)))
        return lines

    def _fits(self, known: int, edge: NDArray[np.intp]) -> list[Array]:
        """By sums fitted to all curves at once: of {1, log P, P} × {1, S}, and of the closed form's counts."""
        ranks, size_B = self.ranks, self.size_B
        growth = np.stack([np.ones_like(ranks), np.log2(ranks), ranks], axis=-1)
        forms = np.concatenate([growth, growth * size_B[..., None]], axis=-1)
        seen = (size_B if self.is_size else ranks)[:known][np.isfinite(self.ln_s[:known])]
        varies = seen.size > 0 and seen.min() < seen.max()
        return [
            _fitted(bases, self.ln_s[:known], edge)
            if usable
            else np.full((len(ranks) - known, edge.size), np.nan)
            for bases, usable in ((forms, varies), (self.counts, np.isfinite(self.counts).all()))
        ]

    def windows(self) -> tuple[Array, Array]:
        """Errors in ln of each way at ends of the curves that it does not see, (ways, n); how far they are."""
        reach = np.abs(self.along - self.along[-1])
        cuts = {min(max(int((reach >= length).sum()), 1), len(reach) - 1) for length in WINDOWS}
        errors, distances = [np.empty((len(WAYS), 0))], [np.empty(0)]
        for known in sorted(cuts - {0}):
            added, far, last = self.grown(known)
            asked = self.measured[known:] & np.isfinite(last)
            errors.append((added + last - self.ln_s[known:])[:, asked])
            distances.append(far[asked])
        return np.concatenate(errors, axis=1), np.concatenate(distances)


def _smoothed(rise: Array) -> Array:
    """Slopes of neighbouring curves: each the median with those beside it."""
    if rise.size < 3:
        return rise
    middle = np.median([rise[:-2], rise[1:-1], rise[2:]], axis=0)
    return np.concatenate([rise[:1], middle, rise[-1:]])


def _fitted(bases: Array, ln_s: Array, edge: NDArray[np.intp]) -> Array:
    """What a sum of bases (n, c, k), none negative, adds in ln at the rows after those of `ln_s` (r, c)."""
    known, curve = len(ln_s), np.arange(edge.size)
    has = np.isfinite(ln_s)
    design = bases[:known][has] / np.exp(ln_s[has])[:, None]
    triangle = np.asarray(np.linalg.qr(np.column_stack([design, np.ones(len(design))]), mode="r"))
    factors = nonnegative_least_squares(triangle[:, :-1], triangle[:, -1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ln_fitted = np.log(bases @ factors)
        return np.asarray(ln_fitted[known:] - ln_fitted[edge, curve])


def combined(values: Array, weight: Array) -> Array:
    """The median of values (ways, …), NaN left out, weighed by `weight` (ways,)."""
    shares = np.where(np.isfinite(values), weight.reshape(-1, *[1] * (values.ndim - 1)), 0.0)
    order = np.argsort(np.where(np.isfinite(values), values, np.inf), axis=0)
    below = np.take_along_axis(shares, order, axis=0).cumsum(axis=0)
    middle = (below >= below[-1] / 2 * (1 - 1e-9)).argmax(axis=0)[None]
    return np.asarray(np.take_along_axis(np.take_along_axis(values, order, axis=0), middle, axis=0)[0])


@dataclass(frozen=True)
class Direction:
    """Of a way along an axis: weights (ways,), and the error of 95 % in ln by unit of distance."""

    weight: Array
    growth: float

    def reach(self, far: Array) -> Array:
        """Half the width in ln of 95 % intervals so far beyond."""
        return self.growth * (CLOSE + far)


def direction(own: tuple[Array, Array], others: Sequence[tuple[Array, Array]]) -> Direction:
    """By the windows of a group, as of `Curves.windows`, and those of all others."""
    weight = _weights(own[0], [errors for errors, _ in others])
    of_each = [(own, 1.0), *((other, POOLED) for other in others)]
    return Direction(weight, rate([(combined(errors, weight), far, share) for (errors, far), share in of_each]))


def rate(windows: Sequence[tuple[Array, Array, float]]) -> float:
    """What 95 % of errors (n,) in ln are below by unit of distance (n,) and `CLOSE`; each counts a share."""
    missed, counts = [np.array([UNSEEN])], [np.array([FEWEST * (1 - CONFIDENCE)])]
    for errors, far, share in windows:
        missed.append(np.abs(errors) / (CLOSE + far))
        counts.append(np.where(np.isfinite(missed[-1]), share, 0.0))
    values, shares = np.concatenate(missed), np.concatenate(counts)
    order = np.argsort(values)
    below = shares[order].cumsum()
    return max(float(values[order][(below >= CONFIDENCE * below[-1]).argmax()]), LEAST_REACH)


def _weights(own: Array, others: Sequence[Array]) -> Array:
    """What each way counts, (ways,), by its errors on windows of a group (ways, n) and those of the others."""
    square, count = np.zeros(len(WAYS)), np.zeros(len(WAYS))
    for errors, share in [(own, 1.0), *((other, POOLED) for other in others)]:
        has = np.isfinite(errors)
        square += share * np.where(has, np.minimum(np.abs(errors), MOST) ** 2, 0.0).sum(axis=1)
        count += share * has.sum(axis=1)
    nearest = (square[0] + PRIOR_COUNT * NO_GROWTH**2) / (count[0] + PRIOR_COUNT)
    return np.asarray((count + PRIOR_COUNT) / (square + PRIOR_COUNT * nearest * SHARES**2))
