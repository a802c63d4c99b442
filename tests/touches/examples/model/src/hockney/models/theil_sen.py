"""T(n) = α + βn whose slope is the median of the slopes between all pairs of points (Sen, JASA 63, 1968)."""

from __future__ import annotations

import numpy as np
from scipy.stats import theilslopes

from hockney.errors import RequestError
from hockney.models._lines import assess, half_bandwidth_size, one_regime
from hockney.models.base import Fit, Parameter, PiecewiseLine, models
from hockney.records.series import Series
from hockney.statistics import Array


def _estimate(size_B: Array, time_s: Array) -> PiecewiseLine:
    slope = max(0.0, float(theilslopes(time_s, size_B)[0]))
    return PiecewiseLine.single(max(0.0, float(np.median(time_s - slope * size_B))), slope)


@models.register("theil_sen")
def fit(series: Series) -> Fit:
    """A line that up to 29 % of wrong points do not move; RequestError for fewer than two sizes."""
    size, time = series.size_B, series.time_s
    if size.size < 2:
        raise RequestError("theil_sen needs at least two message sizes", "measure or import more sizes")
    line = _estimate(size, time)
    alpha = Parameter(value=float(line.alpha_s[0]), unit="s")
    regimes = one_regime(alpha, Parameter(value=float(line.beta_s_per_B[0]), unit="s/B"))
    return Fit(
        model="theil_sen",
        regimes=regimes,
        parameters={"latency_s": alpha},
        n_half_B=half_bandwidth_size(regimes),
        quality=assess(size, time, _estimate, 1),
    )
