"""T(n) = α + βn by regimes: protocol switches and cache sizes make one line a bad model of a real library.

Number and place of the regimes come from the data (the search: cpp/fit/regimes.hpp), at most five of three sizes
or more; within each, relative residuals and α, β ≥ 0. The eager limit is a break where the library states it and
the data agree. Breaks are left out that do not recur where points are drawn anew from the intervals of their
visits. What five lines leave, `corrected` follows (`base`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from hockney._core import Regimes
from hockney.errors import RequestError
from hockney.models._lines import (
    assess,
    half_bandwidth_size,
    line_parameters,
    reciprocal,
)
from hockney.models.base import Fit, PiecewiseLine, Regime, models
from hockney.records.series import Series
from hockney.statistics import MOST_REACH, Array, standard_error
from hockney.units import format_bytes

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


def _noise(series: Series) -> Array:
    """The relative standard error of each point."""
    return standard_error(series.low_s, series.high_s) / series.time_s


def _curve(size_B: Array, time_s: Array, series: Series, noise: Array) -> SizeCurve:
    """The points of a curve at sizes of `series`, which has that noise, as uncertain as there."""
    if size_B.size > Regimes.MOST_POINTS:
        # The search takes the cube of the points: of a long series an even choice is fitted.
        kept = np.unique(np.linspace(0, size_B.size - 1, Regimes.MOST_POINTS).round().astype(int))
        size_B, time_s = size_B[kept], time_s[kept]
    noise = np.interp(size_B, series.size_B, noise)
    return SizeCurve(size_B, time_s, noise, series.eager_limit_B, series.breaks_B)


def _estimate(size_B: Array, time_s: Array, series: Series, noise: Array) -> PiecewiseLine:
    return _curve(size_B, time_s, series, noise).best_lines()


@models.register("piecewise")
def fit(series: Series) -> Fit:
    """Fit at most five regimes; RequestError for fewer than two sizes."""
    if series.size_B.size < 2:
        raise RequestError("piecewise needs at least two message sizes", "measure or import more sizes")
    noise = _noise(series)
    curve = _curve(series.size_B, series.time_s, series, noise)
    stretches, judged = recurring(curve)
    segments = curve.segments(stretches)
    regimes = _regimes(curve, segments, series)
    bandwidth = reciprocal(regimes[-1].beta_s_per_B, "B/s")
    notes = [*_notes_of_points(curve, segments), *map(_note_of_break, judged)]
    if curve.size_B.size < series.size_B.size:
        notes.append(f"fitted to {curve.size_B.size} of {series.size_B.size} sizes, evenly chosen")
    return Fit(
        model="piecewise",
        regimes=regimes,
        parameters={"latency_s": regimes[0].alpha_s} | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        n_half_B=half_bandwidth_size(regimes),
        quality=assess(
            series.size_B,
            series.time_s,
            partial(_estimate, series=series, noise=noise),
            3 * len(segments) - 2,
            series,
        ),
        notes=notes,
    )


def _notes_of_points(curve: SizeCurve, segments: Sequence[SizeSegment]) -> Iterator[str]:
    for segment in segments:
        if segment.aside is not None:
            size_B = curve.size_B[segment.aside]
            ratio = curve.time_s[segment.aside] / (segment.alpha_s + segment.beta_s_per_B * size_B)
            yield (f"{format_bytes(size_B)} is an outlier, {ratio:.3g} times its neighbours' time; not fitted")


def _note_of_break(judged: DoubtfulBreak) -> str:
    place = f"between {format_bytes(judged.low_B)} and {format_bytes(judged.high_B)}"
    verdict = "" if judged.recurs else "; left out"
    return f"the break {place} recurred in {judged.share * ROUNDS:.0f} of {ROUNDS} resampled curves{verdict}"


def _regimes(curve: SizeCurve, segments: Sequence[SizeSegment], series: Series) -> list[Regime]:
    """Regimes with intervals from the scatter about all of them together: one alone has too few points.

    A point that is less certain than `LEAST_NOISE` scatters more and weighs less, as in the search for regimes,
    so that what moves the largest messages does not widen the latency.
    """
    weight = Regimes.LEAST_NOISE / np.maximum(curve.noise, Regimes.LEAST_NOISE)
    limit, noise = series.eager_limit_B, float(np.median(weight * curve.noise))
    residual = [
        weight[points]
        * ((segment.alpha_s + segment.beta_s_per_B * curve.size_B[points]) / curve.time_s[points] - 1)
        for segment in segments
        for points in [segment.points()]
    ]
    freedom = sum(map(np.size, residual)) - 2 * len(segments)
    scatter = float(np.sqrt(np.sum(np.concatenate(residual) ** 2) / max(freedom, 1)))
    regimes, low = [], 0.0
    for segment in segments:
        points = segment.points()
        alpha, beta = line_parameters(
            *(curve.size_B[points], curve.time_s[points], segment.alpha_s, segment.beta_s_per_B),
            *(max(scatter, noise), freedom, weight[points]),
        )
        high = None if np.isinf(segment.upper_B) else segment.upper_B
        label = ""
        if limit is not None:
            label = "eager" if high is not None and high <= limit else "rendezvous" if low >= limit - 1 else ""
        regimes.append(Regime(min_B=low, max_B=high, alpha_s=alpha, beta_s_per_B=beta, label=label))
        low = segment.upper_B
    return regimes
