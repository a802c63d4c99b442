"""Plain least squares of T = a + bn, as the literature does it: absolute residuals, ruled by the largest message.

It may give a negative latency (sources of the field report −113 µs); it is kept for comparison and flagged.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from hockney.errors import RequestError
from hockney.models._linear import Array, Lines, half_bandwidth_size, one_regime, reciprocal
from hockney.models._quality import assess
from hockney.models.base import Fit, Parameter, models
from hockney.records.series import Series


def _estimate(size_B: Array, time_s: Array) -> Lines:
    centred = size_B - size_B.mean()
    slope = float(np.sum(centred * time_s) / np.sum(centred**2))
    return Lines.one(float(time_s.mean() - slope * size_B.mean()), slope)


@models.register("least_squares")
def fit(series: Series) -> Fit:
    """Ordinary least squares with its t-intervals; RequestError for fewer than two sizes."""
    size, time = series.size_B, series.time_s
    if size.size < 2:
        raise RequestError("least_squares needs at least two message sizes", "measure or import more sizes")
    line = _estimate(size, time)
    alpha = Parameter(value=float(line.alpha_s[0]), unit="s")
    beta = Parameter(value=float(line.beta_s_per_B[0]), unit="s/B")
    if size.size > 2:
        freedom = size.size - 2
        spread = float(np.sum((size - size.mean()) ** 2))
        noise = float(np.sqrt(np.sum((line.at(size) - time) ** 2) / freedom))
        reach = float(stats.t.ppf(0.975, freedom)) * noise
        for parameter, width in (
            (alpha, reach * np.sqrt(1 / size.size + size.mean() ** 2 / spread)),
            (beta, reach / np.sqrt(spread)),
        ):
            parameter.low, parameter.high = float(parameter.value - width), float(parameter.value + width)
    negative = [word for word, value in (("latency", alpha.value), ("slope", beta.value)) if value < 0]
    regimes = one_regime(alpha, beta)
    bandwidth = reciprocal(beta, "B/s")
    return Fit(
        model="least_squares",
        regimes=regimes,
        parameters={"latency_s": alpha} | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        nonphysical=bool(negative),
        n_half_B=half_bandwidth_size(regimes),
        quality=assess(size, time, _estimate, 1),
        notes=[f"the {word} is negative, which no message can be" for word in negative],
    )
