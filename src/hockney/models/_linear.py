"""Lines T(n) = α + βn fitted to relative residuals, with α, β ≥ 0; their intervals; lines laid end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.models.base import Parameter, Regime
from hockney.records.series import Series
from hockney.statistics import Array, least_squares, standard_error, t_reach


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


@dataclass(frozen=True)
class SegmentLines:
    """Best line through points i … j for all i ≤ j; `cost` is the sum of squared relative residuals.

    Arrays of shape (…, N, N); what stands below the diagonal has infinite cost.
    """

    alpha_s: Array
    beta_s_per_B: Array
    cost: Array


def nonnegative_lines(size_B: Array, time_s: Array, weight: Array | None = None) -> SegmentLines:
    """Least squares of (α + βn − T)/T with α, β ≥ 0 over every stretch of N points, as arrays (…, N, N).

    In closed form: the unconstrained solution where it is physical, else the better one of the two edges.
    `weight` (…, N) is that of each squared residual, 0 where a point does not count; left out, all weigh 1.
    """
    upper = np.triu(np.ones((size_B.size, size_B.size)))
    weighted = upper if weight is None else upper * weight[..., None, :]

    def total(value: Array) -> Array:
        # Sums restart at every i instead of being differences of one running sum, whose large terms of
        # small messages would swallow the small ones of large messages.
        return np.asarray(np.cumsum(weighted * value, axis=-1))

    rate = 1.0 / time_s
    scaled = size_B * rate
    count, w, s = total(np.ones_like(rate)), total(rate), total(scaled)
    ww, ws, ss = total(rate * rate), total(rate * scaled), total(scaled * scaled)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = ww * ss - ws * ws
        alpha = (w * ss - s * ws) / determinant
        beta = (s * ww - w * ws) / determinant
        flat, steep = w / ww, np.where(ss > 0, s / ss, 0.0)
        flat_cost, steep_cost = count - flat * w, count - steep * s
        # No latency at all is no answer where an empty message was timed.
        steep_cost = np.where((ss > 0) & (size_B[:, None] > 0), steep_cost, np.inf)
        inside = (determinant > 1e-12 * ww * ss) & (alpha >= 0) & (beta >= 0)
        steeper = steep_cost < flat_cost
        alpha = np.where(inside, alpha, np.where(steeper, 0.0, flat))
        beta = np.where(inside, beta, np.where(steeper, steep, 0.0))
        cost = np.where(inside, count - alpha * w - beta * s, np.minimum(flat_cost, steep_cost))
    cost = np.where(upper > 0, np.maximum(cost, 0.0), np.inf)
    return SegmentLines(alpha, beta, cost)


def nonnegative_line(size_B: Array, time_s: Array) -> tuple[float, float]:
    """α and β of `nonnegative_lines` through all points."""
    lines = nonnegative_lines(size_B, time_s)
    return float(lines.alpha_s[0, -1]), float(lines.beta_s_per_B[0, -1])


def measured_noise(series: Series) -> float:
    """Relative standard error of the medians as the source's 95 % intervals state it; 0 where it gave none."""
    return float(np.median(standard_error(series.low_s, series.high_s) / series.time_s))


def line_parameters(
    size_B: Array, time_s: Array, alpha_s: float, beta_s_per_B: float, noise: float, freedom: int
) -> tuple[Parameter, Parameter]:
    """α and β with 95 % intervals from the linearised covariance of the relative fit, cut off at zero.

    `noise` is the relative standard deviation of one point with `freedom` degrees of freedom behind it; with
    none, or where the points do not determine the line, the intervals stay open (None).
    """
    # A line through one point, or through points at zero only, has no slope to bound.
    if freedom < 1 or size_B.size < 2 or not np.any(size_B > 0):
        return Parameter(value=alpha_s, unit="s"), Parameter(value=beta_s_per_B, unit="s/B")
    free = least_squares(np.column_stack([np.ones_like(size_B), size_B]), time_s, 1.0 / time_s)
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
