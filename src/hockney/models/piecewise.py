"""T(n) = α + βn by regimes: protocol switches and cache sizes make one line a bad model of a real library.

Number and place of the regimes come from the data (`_regimes`), at most five of three sizes or more; within each,
relative residuals and α, β ≥ 0. The eager limit is a break where the library states it and the data agree. Breaks
that the visits do not bear out are left out. What five lines leave, `corrected` follows (`base`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from hockney._core import Regimes
from hockney.errors import RequestError
from hockney.models._lines import (
    assess,
    half_bandwidth_size,
    line_parameters,
    reciprocal,
)
from hockney.models._regimes import ROUNDS, DoubtfulBreak, SizeCurve, SizeSegment, recurring
from hockney.models.base import Fit, PiecewiseLine, Regime, models
from hockney.records.series import Series
from hockney.statistics import Array, standard_error
from hockney.units import format_bytes


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
