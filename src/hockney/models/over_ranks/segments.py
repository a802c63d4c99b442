"""Straight lines of time against ranks between the places where a cache, a socket or a node is full.

On each, a ring takes T(P) = c + 2λP with λ the latency of a message (`ring_segments`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.jumps import Examined, Jump, at_boundaries, jumps
from hockney.models.over_ranks.regression import Regression, regressions
from hockney.records.record import Locality
from hockney.statistics import t_reach

Array = NDArray[np.float64]


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
    """`segments` in the order of P. `examined`: each boundary inside the curve and whether time breaks there.

    `breaks`: where a further segment begins, in the order of P.
    """

    segments: list[Segment]
    examined: list[Examined]
    breaks: list[Jump]


def segments(ranks: Array, time_s: Array, expected: Sequence[Boundary]) -> Segments:
    """Lines of T(P), shape (points,), between the breaks that `hockney.models.over_ranks.jumps` finds.

    At `expected` boundaries smaller breaks count than elsewhere. Fewer than five points have no line.
    """
    order = np.argsort(ranks)
    at, time = ranks[order], time_s[order]
    examined = at_boundaries(at, time, expected)
    breaks = jumps(at, time, examined)
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
    return Segments(stretches, examined, breaks)
