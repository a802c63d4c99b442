"""T(n) = α + βn by regimes: protocol switches and cache sizes make one line a bad model of a real library.

Number and place of the regimes come from the data (`_regimes`), at most twelve; within each, relative residuals
and α, β ≥ 0. The eager limit is a break where the library states it and the data agree. Joins lead over what no
regime explains; breaks that the visits do not bear out are left out (`_regimes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np

from hockney._core import Regimes
from hockney.errors import RequestError
from hockney.models._lines import (
    PiecewiseLine,
    assess,
    half_bandwidth_size,
    line_parameters,
    reciprocal,
)
from hockney.models._regimes import ROUNDS, DoubtfulBreak, SizeCurve, SizeSegment, recurring
from hockney.models.base import JOIN, Fit, Parameter, Regime, models
from hockney.records.series import Series
from hockney.statistics import NORMAL, Array, standard_error
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
    """Fit at most twelve regimes, and joins between them; RequestError for fewer than two sizes."""
    if series.size_B.size < 2:
        raise RequestError("piecewise needs at least two message sizes", "measure or import more sizes")
    noise = _noise(series)
    curve = _curve(series.size_B, series.time_s, series, noise)
    stretches, judged = recurring(curve)
    segments = curve.segments(stretches)
    regimes = _regimes(curve, segments, series)
    bandwidth = reciprocal(regimes[-1].beta_s_per_B, "B/s")
    notes = [*_notes_of_joins(curve, segments), *_notes_of_points(curve, segments), *map(_note_of_break, judged)]
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
        ),
        notes=notes,
    )


def _notes_of_joins(curve: SizeCurve, segments: Sequence[SizeSegment]) -> Iterator[str]:
    for joins, members in groupby(segments, key=lambda segment: segment.joins):
        if not joins:
            continue
        chain = list(members)
        low, high = (format_bytes(curve.size_B[point]) for point in (chain[0].first, chain[-1].last))
        if len(chain) == 1:
            yield f"between {low} and {high} nothing was measured: the line there only joins its neighbours"
        else:
            yield (
                f"between {low} and {high} no regime rests on {Regimes.LEAST_SIZES} sizes: "
                "the lines there only join the measured sizes"
            )


def _notes_of_points(curve: SizeCurve, segments: Sequence[SizeSegment]) -> Iterator[str]:
    for segment in segments:
        if segment.aside is not None:
            size_B = curve.size_B[segment.aside]
            ratio = curve.time_s[segment.aside] / (segment.alpha_s + segment.beta_s_per_B * size_B)
            yield (
                f"{format_bytes(size_B)} is set aside: it took {ratio:.3g} times as long as the sizes around it "
                "say, and one size makes no regime"
            )


def _note_of_break(judged: DoubtfulBreak) -> str:
    place = f"the break between {format_bytes(judged.low_B)} and {format_bytes(judged.high_B)}"
    if judged.low_B == judged.high_B:
        place = f"the break at {format_bytes(judged.low_B)}"
    verdict = "" if judged.recurs else ": it is left out"
    return f"{place} recurred in {judged.share:.0%} of {ROUNDS} curves drawn from the intervals{verdict}"


def _regimes(curve: SizeCurve, segments: Sequence[SizeSegment], series: Series) -> list[Regime]:
    """Regimes with intervals from the scatter about all of them together: one alone has too few points.

    Joins have no intervals: their lines are not fitted to anything. But the last one is the bandwidth: it has
    what the intervals of its two sizes say. The empty message alone has its own. A point that is less certain
    than `LEAST_NOISE` scatters more and weighs less, as in the search for regimes, so that what moves the
    largest messages does not widen the latency.
    """
    weight = Regimes.LEAST_NOISE / np.maximum(curve.noise, Regimes.LEAST_NOISE)
    limit, noise = series.eager_limit_B, float(np.median(weight * curve.noise))
    fitted = [segment for segment in segments if segment.is_regime]
    residual = [
        weight[points]
        * ((segment.alpha_s + segment.beta_s_per_B * curve.size_B[points]) / curve.time_s[points] - 1)
        for segment in fitted
        for points in [segment.points()]
    ]
    # A point on the border of two regimes counts once.
    freedom = len({point for segment in fitted for point in segment.points()}) - 2 * len(fitted)
    scatter = float(np.sqrt(np.sum(np.concatenate(residual) ** 2) / max(freedom, 1)))
    regimes, low = [], 0.0
    for segment in segments:
        points = segment.points()
        alpha, beta = line_parameters(
            *(curve.size_B[points], curve.time_s[points], segment.alpha_s, segment.beta_s_per_B),
            *(max(scatter, noise), freedom if segment.is_regime else 0, weight[points]),
        )
        if segment.joins and segment is segments[-1] and np.all(curve.noise[points] > 0):
            alpha, beta = _of_last_two(segment, curve.size_B[points], curve.time_s[points], curve.noise[points])
        if segment.first == segment.last:
            bounds = min(alpha.value, float(series.low_s[0])), max(alpha.value, float(series.high_s[0]))
            alpha = alpha.model_copy(update={"low": bounds[0], "high": bounds[1]})
        high = None if np.isinf(segment.upper_B) else segment.upper_B
        label = JOIN if segment.joins else ""
        if limit is not None and segment.is_regime:
            label = "eager" if high is not None and high <= limit else "rendezvous" if low >= limit - 1 else ""
        regimes.append(Regime(min_B=low, max_B=high, alpha_s=alpha, beta_s_per_B=beta, label=label))
        low = segment.upper_B
    return regimes


def _of_last_two(join: SizeSegment, size_B: Array, time_s: Array, noise: Array) -> tuple[Parameter, Parameter]:
    """α and β of the join between the two largest sizes, with what the intervals of their times say.

    Where α is kept from being negative, β is a rate and no slope: its interval holds both, and α has none.
    """
    alpha, beta = line_parameters(
        size_B, time_s, join.alpha_s, join.beta_s_per_B, noise=1.0, freedom=math.inf, weight=1 / noise
    )
    if join.alpha_s > 0:
        return alpha, beta
    low, high = (time_s * (1 + side * NORMAL * noise) / size_B for side in (-1, 1))
    bounds = {"low": min(beta.low or 0.0, *low), "high": max(beta.high or 0.0, *high)}
    return Parameter(value=0.0, unit="s"), beta.model_copy(update=bounds)
