"""T(n) = α + βn with α, β ≥ 0 and relative residuals, so that every size counts alike (Hockney 1994)."""

from __future__ import annotations

import numpy as np

from hockney._core import nonnegative_lines
from hockney.errors import RequestError
from hockney.models._lines import (
    assess_lines,
    half_bandwidth_size,
    line_parameters,
    measured_noise,
    nonnegative_line,
    one_regime,
    reciprocal,
)
from hockney.models.base import Fit, models
from hockney.records.series import Series


@models.register("hockney")
def fit(series: Series) -> Fit:
    """One physical line; the scatter about it is taken as noise in the intervals.

    RequestError for fewer than two sizes.
    """
    size, time = series.size_B, series.time_s
    if size.size < 2:
        raise RequestError("hockney needs at least two message sizes", "measure or import more sizes")
    alpha_s, beta_s_per_B = nonnegative_line(size, time)
    freedom = size.size - 2
    scatter = float(np.sqrt(np.sum(((alpha_s + beta_s_per_B * size) / time - 1) ** 2) / max(freedom, 1)))
    noise = max(scatter, measured_noise(series))
    alpha, beta = line_parameters(size, time, alpha_s, beta_s_per_B, noise, freedom)
    regimes = one_regime(alpha, beta)
    bandwidth = reciprocal(beta, "B/s")
    return Fit(
        model="hockney",
        regimes=regimes,
        parameters={"latency_s": alpha} | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        n_half_B=half_bandwidth_size(regimes),
        quality=assess_lines(size, time, nonnegative_lines, 1),
    )
