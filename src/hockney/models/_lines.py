"""Lines T(n) = α + βn fitted to relative residuals, laid end to end, and how well such a model does.

α, β ≥ 0. A quality is that of a model on its points, and on points that it has not seen (leave one out).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hockney._core import nonnegative_lines
from hockney.errors import RequestError
from hockney.models.base import Fit, Parameter, Quality, Regime
from hockney.records.series import Series
from hockney.statistics import Array, least_absolute_share, least_squares, standard_error, t_reach


@dataclass(frozen=True)
class PiecewiseLine:
    """Line k holds up to and including `upper_B[k]`; the last upper end is infinite."""

    upper_B: Array
    alpha_s: Array
    beta_s_per_B: Array

    @classmethod
    def single(cls, alpha_s: float, beta_s_per_B: float) -> PiecewiseLine:
        return cls(np.array([np.inf]), np.array([alpha_s]), np.array([beta_s_per_B]))

    def at(self, size_B: Array) -> Array:
        """Times in seconds, shape of `size_B`."""
        place = np.searchsorted(self.upper_B, size_B, side="left")
        return np.asarray(self.alpha_s[place] + self.beta_s_per_B[place] * size_B)


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
    regimes = [regime for regime in regimes if not regime.is_of_empty]
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

UNKNOWN = 2.0
"""The factor of a prediction interval where the points are too few to say one."""


def assess(
    size_B: Array, time_s: Array, estimate: Callable[[Array, Array], PiecewiseLine], parameters: int
) -> Quality:
    """Quality of `estimate` on points of shape (N,); `parameters` counts what it fits beside the constant."""
    left, others = _left_out(size_B.size)
    unseen_s = [
        estimate(size_B[points], time_s[points]).at(size_B[[index]])[0]
        for index, points in zip(left, others, strict=True)
    ]
    predicted_s = estimate(size_B, time_s).at(size_B)
    return _quality(size_B, time_s, predicted_s, left, np.array(unseen_s), parameters)


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
    left_out = _LeftOut(unseen_s, _between(size_B, time_s)[left], time_s[left]) if left.size else None
    unseen = None if left_out is None else np.abs(unseen_s - left_out.measured_s) / left_out.measured_s
    median, p95 = _median_and_p95(error)
    unseen_median, unseen_p95 = (None, None) if unseen is None else _median_and_p95(unseen)
    return Quality(
        points=size_B.size,
        median_relative_error=median,
        p95_relative_error=p95,
        max_relative_error=float(error.max()),
        adjusted_r2=_adjusted_r2(time_s, predicted_s, parameters),
        leave_one_out_median=unseen_median,
        leave_one_out_p95=unseen_p95,
        prediction_factor=_factor(time_s, left_out),
        correction_weight=None if left_out is None else left_out.weight(),
    )


def _median_and_p95(values: Array) -> tuple[float, float]:
    """Linear between order statistics, as in numpy, whose own function takes ten times as long for a few."""
    places = np.array([0.5, 0.95]) * (values.size - 1)
    median, p95 = np.interp(places, np.arange(values.size), np.sort(values))
    return float(median), float(p95)


def _between(size_B: Array, time_s: Array) -> Array:
    """The time at each size on the line between its neighbours, shape (N,); NaN at the first and the last."""
    slope_s_per_B = (time_s[2:] - time_s[:-2]) / (size_B[2:] - size_B[:-2])
    between_s = np.full_like(time_s, np.nan)
    between_s[1:-1] = time_s[:-2] + slope_s_per_B * (size_B[1:-1] - size_B[:-2])
    return between_s


@dataclass(frozen=True)
class _LeftOut:
    """Times of points left out one at a time, arrays of shape (n,): as the model predicts them from the others,
    on the line between their neighbours (NaN for the first and the last size), and as measured."""

    predicted_s: Array
    between_s: Array
    measured_s: Array

    def weight(self) -> float:
        """The weight of interpolation with the least error."""
        both = (self.predicted_s > 0) & (self.between_s > 0)
        missed = np.log(self.measured_s[both] / self.predicted_s[both])
        return least_absolute_share(missed, np.log(self.between_s[both] / self.predicted_s[both]))


def _factor(time_s: Array, left_out: _LeftOut | None) -> float:
    """The factor either way that holds 95 % of the points left out.

    A prediction that is not positive is off by as much as the times of the curve differ, or as the worst of the
    others if that is more. So are all predictions where no point can be left out, and by `UNKNOWN` at least.
    """
    most = float(np.log(time_s.max() / time_s.min()))
    if left_out is None:
        return max(UNKNOWN, float(np.exp(most)))
    predicted, measured = left_out.predicted_s, left_out.measured_s
    positive = predicted > 0
    off = np.abs(np.log(np.where(positive, predicted, measured) / measured))
    off[~positive] = max(most, float(off.max()))
    return float(np.exp(_median_and_p95(off)[1]))


def _adjusted_r2(time_s: Array, predicted: Array, parameters: int) -> float | None:
    freedom = time_s.size - parameters - 1
    spread = float(np.sum((time_s - time_s.mean()) ** 2))
    if freedom < 1 or spread == 0:
        return None
    residual = float(np.sum((time_s - predicted) ** 2))
    return 1 - residual / spread * (time_s.size - 1) / freedom
