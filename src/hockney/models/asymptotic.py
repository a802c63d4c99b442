"""Latency from the smallest messages, bandwidth from the largest: an extrapolation.

Latency = mean time of the 1–4 B messages, bandwidth = mean of n/T over the last sizes (32–256 MiB).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models._lines import one_line, reciprocal, sizes_and_times
from hockney.models.base import Fit, Parameter, models
from hockney.records.series import Series
from hockney.statistics import Array, mean_reach

LATENCY_B = (1.0, 4.0)
"""Sizes whose mean time is the latency."""

LARGEST_FACTOR = 8.0
"""The bandwidth is the mean over sizes within this factor of the largest (32–256 MiB in the source)."""


def _is_small(size_B: Array) -> NDArray[np.bool_]:
    small = (size_B >= LATENCY_B[0]) & (size_B <= LATENCY_B[1])
    # A table that starts at 8 B has nothing better than its first size.
    small[..., 0] |= ~small.any(axis=-1)
    return small


def _is_large(size_B: Array) -> NDArray[np.bool_]:
    large = (size_B > 0) & (size_B >= size_B[..., -1:] / LARGEST_FACTOR)
    if size_B.shape[-1] > 2:
        # One size may be disturbed: the next smaller one has a say too, however far away.
        large[..., -2:] = size_B[..., -2:] > 0
    return large


def _lines(size_B: Array, time_s: Array) -> tuple[Array, Array]:
    latency_s = time_s.mean(axis=-1, where=_is_small(size_B))
    return latency_s, 1.0 / (size_B / time_s).mean(axis=-1, where=_is_large(size_B))


def _mean(values: Array, unit: str) -> Parameter:
    """Mean with its t-interval, cut off at zero; None around a single value."""
    mean = float(values.mean())
    if values.size < 2:
        return Parameter(value=mean, unit=unit)
    width = mean_reach(values)
    return Parameter(value=mean, low=max(0.0, mean - width), high=mean + width, unit=unit)


@models.register("asymptotic")
def fit(series: Series) -> Fit:
    """The two ends of the curve, and a line between that was fitted to neither.

    RequestError for fewer than two sizes.
    """
    size, time = sizes_and_times(series, "asymptotic")
    latency = _mean(time[_is_small(size)], "s")
    bandwidth = _mean((size / time)[_is_large(size)], "B/s")
    beta = reciprocal(bandwidth, "s/B")
    if beta is None:
        raise RequestError("asymptotic found no bandwidth", "measure or import larger messages")
    line = one_line("asymptotic", series, latency, beta, bandwidth, _lines)
    if not np.any((size >= LATENCY_B[0]) & (size <= LATENCY_B[1])):
        line.notes = [f"no message of 1–4 B was measured; the smallest one ({size[0]:g} B) gives the latency"]
    return line
