"""T(n) = α + βn with α, β ≥ 0 and relative residuals, so that every size counts alike (Hockney 1994)."""

from __future__ import annotations

import numpy as np

from hockney._core import nonnegative_lines
from hockney.models._lines import (
    line_parameters,
    measured_noise,
    nonnegative_line,
    one_line,
    reciprocal,
    sizes_and_times,
)
from hockney.models.base import Fit, models
from hockney.records.series import Series


@models.register("hockney")
def fit(series: Series) -> Fit:
    """One physical line; the scatter about it is taken as noise in the intervals.

    RequestError for fewer than two sizes.
    """
    size, time = sizes_and_times(series, "hockney")
    alpha_s, beta_s_per_B = nonnegative_line(size, time)
    freedom = size.size - 2
    scatter = float(np.sqrt(np.sum(((alpha_s + beta_s_per_B * size) / time - 1) ** 2) / max(freedom, 1)))
    noise = max(scatter, measured_noise(series))
    alpha, beta = line_parameters(size, time, alpha_s, beta_s_per_B, noise, freedom)
    return one_line("hockney", series, alpha, beta, reciprocal(beta, "B/s"), nonnegative_lines)
