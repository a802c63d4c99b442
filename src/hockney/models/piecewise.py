"""T(n) = α + βn by regimes: protocol switches and cache sizes make one line a bad model of a real library.

Number and place of the regimes come from the data (`_segments`), at most six; within each, relative residuals
and α, β ≥ 0. The eager limit is a break where the library states it and the data agree.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from hockney.errors import RequestError
from hockney.models._linear import (
    PiecewiseLine,
    half_bandwidth_size,
    line_parameters,
    measured_noise,
    reciprocal,
)
from hockney.models._quality import assess
from hockney.models._segments import SizeSegment, cut, lines_of
from hockney.models.base import Fit, Regime, models
from hockney.records.series import Series
from hockney.statistics import Array
from hockney.units import format_bytes

MOST_POINTS = 96
"""The search takes memory and time as the cube of the points; of a longer series an even choice is fitted."""


def _thinned(size_B: Array, time_s: Array) -> tuple[Array, Array]:
    if size_B.size <= MOST_POINTS:
        return size_B, time_s
    kept = np.unique(np.linspace(0, size_B.size - 1, MOST_POINTS).round().astype(int))
    return size_B[kept], time_s[kept]


def _estimate(size_B: Array, time_s: Array, noise: float, eager_limit_B: float | None) -> PiecewiseLine:
    return lines_of(cut(*_thinned(size_B, time_s), noise, eager_limit_B))


@models.register("piecewise")
def fit(series: Series) -> Fit:
    """Fit at most six lines end to end; RequestError for fewer than two sizes."""
    if series.size_B.size < 2:
        raise RequestError("piecewise needs at least two message sizes", "measure or import more sizes")
    noise, limit = measured_noise(series), series.eager_limit_B
    size, time = _thinned(series.size_B, series.time_s)
    segments = cut(size, time, noise, limit)
    regimes = _regimes(size, time, segments, noise, limit)
    bandwidth = reciprocal(regimes[-1].beta_s_per_B, "B/s")
    notes = [
        f"between {format_bytes(size[segment.first])} and {format_bytes(size[segment.last])} nothing was "
        "measured: the regime there only joins its neighbours"
        for before, segment, after in zip(segments, segments[1:], segments[2:], strict=False)
        if segment.last == segment.first + 1 and before.last == segment.first and after.first == segment.last
    ]
    if size.size < series.size_B.size:
        notes.append(f"fitted to {size.size} of {series.size_B.size} sizes, evenly chosen")
    return Fit(
        model="piecewise",
        regimes=regimes,
        parameters={"latency_s": regimes[0].alpha_s} | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        n_half_B=half_bandwidth_size(regimes),
        quality=assess(
            series.size_B,
            series.time_s,
            partial(_estimate, noise=noise, eager_limit_B=limit),
            3 * len(segments) - 2,
        ),
        notes=notes,
    )


def _regimes(
    size: Array, time: Array, segments: list[SizeSegment], noise: float, limit: float | None
) -> list[Regime]:
    """Regimes with intervals from the scatter about all lines together: one regime alone has too few points."""
    freedom = size.size - 2 * len(segments)
    residual = lines_of(segments).at(size) / time - 1
    scatter = float(np.sqrt(np.sum(residual**2) / max(freedom, 1)))
    regimes, low = [], 0.0
    for segment in segments:
        points = slice(segment.first, segment.last + 1)
        alpha, beta = line_parameters(
            size[points], time[points], segment.alpha_s, segment.beta_s_per_B, max(scatter, noise), freedom
        )
        high = None if np.isinf(segment.upper_B) else segment.upper_B
        label = ""
        if limit is not None:
            label = "eager" if high is not None and high <= limit else "rendezvous" if low >= limit - 1 else ""
        regimes.append(Regime(min_B=low, max_B=high, alpha_s=alpha, beta_s_per_B=beta, label=label))
        low = segment.upper_B
    return regimes
