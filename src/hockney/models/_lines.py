"""Lines T(n) = α + βn fitted to relative residuals, laid end to end, and how well such a model does.

α, β ≥ 0. A quality is that of a model on its points, and on points that it has not seen (leave one out).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hockney._core import nonnegative_lines
from hockney.errors import RequestError
from hockney.models.base import Fit, Parameter, PiecewiseLine, Quality, Regime
from hockney.records.series import Series
from hockney.statistics import Array, adjusted_r2, least_squares, standard_error, t_reach


def nonnegative_line(size_B: Array, time_s: Array) -> tuple[float, float]:
    """α and β ≥ 0 with the least squares of (α + βn − T)/T."""
    alpha_s, beta_s_per_B = nonnegative_lines(size_B[None], time_s[None])
    return float(alpha_s[0]), float(beta_s_per_B[0])


def measured_noise(series: Series) -> float:
    """Relative standard error of the medians as the source's 95 % intervals state it; 0 where it gave none."""
    return float(np.median(standard_error(series.low_s, series.high_s) / series.time_s))


def line_parameters(
    size_B: Array,
    time_s: Array,
    alpha_s: float,
    beta_s_per_B: float,
    noise: float,
    freedom: float,
    weight: Array | None = None,
) -> tuple[Parameter, Parameter]:
    """α and β with 95 % intervals from the linearised covariance of the relative fit, cut off at zero.

    `noise` is the relative standard deviation of one point with `freedom` degrees of freedom behind it, of a
    point of weight 1 where `weight` (N,), that of its residual, is given. With no freedom, or where the points do
    not determine the line, the intervals stay open (None).
    """
    # A line through one point, or through points at zero only, has no slope to bound.
    if freedom < 1 or size_B.size < 2 or not np.any(size_B > 0):
        return Parameter(value=alpha_s, unit="s"), Parameter(value=beta_s_per_B, unit="s/B")
    weights = np.ones_like(time_s) if weight is None else weight
    free = least_squares(np.column_stack([np.ones_like(size_B), size_B]), time_s, weights / time_s)
    reach = t_reach(noise * free.errors, freedom)
    bounds = [
        # The unconstrained estimate carries the width; the interval must hold the value that is used.
        (max(0.0, min(value, centre - width)), max(value, centre + width))
        for value, centre, width in zip((alpha_s, beta_s_per_B), free.value, reach, strict=True)
    ]
    (alpha_low, alpha_high), (beta_low, beta_high) = bounds
    return (
        Parameter(value=alpha_s, low=alpha_low, high=alpha_high, unit="s"),
        Parameter(value=beta_s_per_B, low=beta_low, high=beta_high, unit="s/B"),
    )


def one_regime(alpha_s: Parameter, beta_s_per_B: Parameter) -> list[Regime]:
    """One line for all sizes."""
    return [Regime(min_B=0.0, max_B=None, alpha_s=alpha_s, beta_s_per_B=beta_s_per_B)]


def sizes_and_times(series: Series, model: str) -> tuple[Array, Array]:
    """What a line is fitted to; RequestError for fewer than two sizes."""
    if series.size_B.size < 2:
        raise RequestError(f"{model} needs at least two message sizes", "measure or import more sizes")
    return series.size_B, series.time_s


def one_line(
    model: str,
    series: Series,
    alpha: Parameter,
    beta: Parameter,
    bandwidth: Parameter | None,
    lines: Callable[[Array, Array], tuple[Array, Array]],
) -> Fit:
    """A model with one line for all sizes; `lines` as `assess_lines` takes it."""
    regimes = one_regime(alpha, beta)
    return Fit(
        model=model,
        regimes=regimes,
        parameters={"latency_s": alpha} | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        n_half_B=half_bandwidth_size(regimes),
        quality=assess_lines(series.size_B, series.time_s, lines, 1),
    )


def reciprocal(parameter: Parameter, unit: str) -> Parameter | None:
    """1/x with its interval (a lower bound of zero leaves the upper end open); None unless x > 0."""
    if parameter.value <= 0:
        return None
    low = 1.0 / parameter.high if parameter.high else None
    high = 1.0 / parameter.low if parameter.low is not None and parameter.low > 0 else None
    return Parameter(value=1.0 / parameter.value, low=low, high=high, unit=unit)


def half_bandwidth_size(regimes: list[Regime]) -> Parameter | None:
    """n½: the smallest size whose n/T(n) reaches half of the last regime's 1/β; α/β for a single line.

    The interval pairs the ends of those of α and β, so it is rather too wide; several regimes give none.
    """
    last = regimes[-1].beta_s_per_B
    if last.value <= 0:
        return None
    for regime in regimes:
        margin = 2 * last.value - regime.beta_s_per_B.value
        if margin <= 0 or regime.alpha_s.value < 0:
            continue
        size = max(regime.min_B, regime.alpha_s.value / margin)
        if regime.max_B is None or size <= regime.max_B:
            break
    else:
        return None
    alpha, beta = regimes[0].alpha_s, last
    if len(regimes) > 1 or alpha.low is None or beta.low is None:
        return Parameter(value=size, unit="B")
    low = max(0.0, alpha.low) / beta.high if beta.high else None
    high = alpha.high / beta.low if alpha.high is not None and beta.low > 0 else None
    return Parameter(value=size, low=low, high=high, unit="B")


LEAVE_OUT_WORK = 4e6
"""Refits of a long series are rationed: the cost of a piecewise fit grows as the cube of the points."""

INSIDE = 0.5
"""The `correction_weight` of `piecewise`; chosen on the tables of ping-pongs of docs/reference/accuracy.md."""

UNKNOWN = 2.0
"""The factor of a prediction interval where the points are too few to say one."""


def assess(
    size_B: Array,
    time_s: Array,
    estimate: Callable[[Array, Array], PiecewiseLine],
    parameters: int,
    measured: Series | None = None,
) -> Quality:
    """Quality of `estimate` on points of shape (N,); `parameters` counts what it fits beside the constant.

    With these points as `measured`, predictions follow them with the weight `INSIDE`.
    """
    left, others = _left_out(size_B.size)
    unseen_s, answer_s = np.empty((2, left.size))
    for row, (index, points) in enumerate(zip(left, others, strict=True)):
        lines = estimate(size_B[points], time_s[points])
        unseen_s[row] = answer_s[row] = lines.at(size_B[index])
        if measured is not None:
            known = measured.take(np.arange(size_B.size) != index)
            answer_s[row] = lines.corrected(size_B[index], known, INSIDE)
    weight = None if measured is None else INSIDE
    return _quality(size_B, time_s, estimate(size_B, time_s).at(size_B), left, unseen_s, parameters).model_copy(
        update={"prediction_factor": _factor(time_s, answer_s, time_s[left]), "correction_weight": weight}
    )


def assess_lines(
    size_B: Array, time_s: Array, lines: Callable[[Array, Array], tuple[Array, Array]], parameters: int
) -> Quality:
    """As `assess`, of a model with one line: `lines` gives α (R,) in s and β (R,) in s/B of curves (R, N)."""
    left, others = _left_out(size_B.size)
    alpha_s, beta_s_per_B = lines(size_B[None], time_s[None])
    unseen_s = np.empty(0)
    if left.size:
        alphas_s, betas_s_per_B = lines(size_B[others], time_s[others])
        unseen_s = alphas_s + betas_s_per_B * size_B[left]
    return _quality(size_B, time_s, alpha_s + beta_s_per_B * size_B, left, unseen_s, parameters)


@lru_cache(maxsize=256)
def _left_out(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The points to leave out one at a time, (R,), none of fewer than three; the others of each, (R, N − 1)."""
    rounds = int(np.clip(LEAVE_OUT_WORK / count**3, min(8, count), count)) if count >= 3 else 0
    left = np.unique(np.linspace(0, count - 1, rounds).round().astype(np.intp))
    others = np.arange(count - 1)
    return left, others + (others >= left[:, None])


def _quality(
    size_B: Array,
    time_s: Array,
    predicted_s: Array,
    left: NDArray[np.intp],
    unseen_s: Array,
    parameters: int,
) -> Quality:
    """`unseen_s` are the times of the points `left` out, as predicted from the others."""
    error = np.abs(predicted_s - time_s) / time_s
    median, p95 = _median_and_p95(error)
    unseen_median = unseen_p95 = None
    if left.size:
        unseen_median, unseen_p95 = _median_and_p95(np.abs(unseen_s - time_s[left]) / time_s[left])
    return Quality(
        points=size_B.size,
        median_relative_error=median,
        p95_relative_error=p95,
        max_relative_error=float(error.max()),
        adjusted_r2=adjusted_r2(time_s - predicted_s, time_s, parameters + 1),
        leave_one_out_median=unseen_median,
        leave_one_out_p95=unseen_p95,
        prediction_factor=_factor(time_s, unseen_s, time_s[left]),
    )


def _median_and_p95(values: Array) -> tuple[float, float]:
    """Linear between order statistics, as in numpy, whose own function takes ten times as long for a few."""
    places = np.array([0.5, 0.95]) * (values.size - 1)
    median, p95 = np.interp(places, np.arange(values.size), np.sort(values))
    return float(median), float(p95)


def _factor(time_s: Array, answer_s: Array, measured_s: Array) -> float:
    """The factor either way that holds 95 % of the points left out.

    An answer that is not positive is off by as much as the times of the curve differ, or as the worst of the
    others if that is more. So are all where no point can be left out, and by `UNKNOWN` at least.
    """
    if not answer_s.size:
        return max(UNKNOWN, float(time_s.max() / time_s.min()))
    positive = answer_s > 0
    off = np.abs(np.log(np.where(positive, answer_s, measured_s) / measured_s))
    off[~positive] = max(float(np.log(time_s.max() / time_s.min())), float(off.max()))
    return float(np.exp(_median_and_p95(off)[1]))
