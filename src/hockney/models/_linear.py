"""Lines T(n) = α + βn fitted to relative residuals, with α, β ≥ 0; their intervals; lines laid end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney._core import nonnegative_lines
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
