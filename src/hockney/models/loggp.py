"""LogGP: T(n) = L + o_s + o_r + (n − 1)G (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995).

The parameters come from dedicated measurements instead of one curve, in the spirit of the parametrised round
trip times of Hoefler, Lichei and Rehm (IPDPS 2007): o_s and o_r from send and receive overhead at the smallest
size, g and G from back-to-back messages, where the time per message is g + (n − 1)G, and
L = one way (smallest) − o_s − o_r.
"""

from __future__ import annotations

import numpy as np

from hockney.errors import RequestError
from hockney.models._linear import (
    Array,
    Lines,
    half_bandwidth_size,
    line_parameters,
    measured_noise,
    nonnegative_line,
    one_regime,
    reciprocal,
)
from hockney.models._quality import assess
from hockney.models.base import Fit, Parameter, models
from hockney.samples.series import Series

NEEDED = ("send_overhead", "receive_overhead", "bandwidth")


def _first(series: Series) -> Parameter:
    """The value at the smallest size, with the interval of its measurement where it has one."""
    low, high = float(series.low_s[0]), float(series.high_s[0])
    bounds = (low, high) if low < high else (None, None)
    return Parameter(value=float(series.time_s[0]), low=bounds[0], high=bounds[1], unit="s")


def _difference(whole: Parameter, parts: list[Parameter]) -> Parameter:
    """whole − Σ parts, not below zero; the interval takes the worst of all ends."""
    value = max(0.0, whole.value - sum(part.value for part in parts))
    low = high = None
    ends = [(one.low, one.high) for one in (whole, *parts)]
    known = [(one_low, one_high) for one_low, one_high in ends if one_low is not None and one_high is not None]
    if len(known) == len(ends):
        low = max(0.0, known[0][0] - sum(part[1] for part in known[1:]))
        high = max(0.0, known[0][1] - sum(part[0] for part in known[1:]))
    return Parameter(value=value, low=low, high=high, unit="s")


@models.register("loggp")
def fit(series: Series) -> Fit:
    """L, o_s, o_r, g, G from the related measurements of `series`.

    RequestError where send_overhead, receive_overhead or bandwidth of the same ranks was not measured.
    """
    missing = [name for name in NEEDED if name not in series.related]
    if missing:
        raise RequestError(
            f"loggp needs {', '.join(missing)} of the same ranks",
            "measure it: `hockney measure` with the operations pingpong, bandwidth, send_overhead and "
            "receive_overhead",
        )
    windowed = series.related["bandwidth"]
    if windowed.size_B.size < 2:
        raise RequestError("loggp needs bandwidth at two sizes or more", "measure more sizes")
    o_s, o_r = (_first(series.related[name]) for name in NEEDED[:2])
    one_way = _first(series)
    latency = _difference(one_way, [o_s, o_r])
    notes = []
    if one_way.value < o_s.value + o_r.value:
        notes.append("L is set to 0: sending and receiving overlap, o_s + o_r exceed the one-way time")
    gap, gap_per_byte = _gaps(windowed)
    alpha = latency.value + o_s.value + o_r.value - gap_per_byte.value
    regimes = one_regime(
        Parameter(value=max(0.0, alpha), low=one_way.low, high=one_way.high, unit="s"), gap_per_byte
    )
    parameters = {"L": latency, "o_s": o_s, "o_r": o_r, "g": gap, "G": gap_per_byte}
    bandwidth = reciprocal(gap_per_byte, "B/s")
    line = Lines.one(regimes[0].alpha_s.value, gap_per_byte.value)

    def unchanged(size_B: Array, time_s: Array) -> Lines:  # noqa: ARG001
        # Of the curve itself only the first point enters, so leaving out any other changes nothing.
        return line

    return Fit(
        model="loggp",
        regimes=regimes,
        parameters=parameters | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        n_half_B=half_bandwidth_size(regimes),
        quality=assess(series.size_B, series.time_s, unchanged, 1),
        notes=notes,
    )


def _gaps(windowed: Series) -> tuple[Parameter, Parameter]:
    """g and G of g + (n − 1)G, relative residuals, both ≥ 0."""
    beyond = np.maximum(windowed.size_B - 1, 0.0)
    gap, gap_per_byte = nonnegative_line(beyond, windowed.time_s)
    freedom = beyond.size - 2
    residual = (gap + gap_per_byte * beyond) / windowed.time_s - 1
    scatter = float(np.sqrt(np.sum(residual**2) / max(freedom, 1)))
    return line_parameters(
        beyond, windowed.time_s, gap, gap_per_byte, max(scatter, measured_noise(windowed)), freedom
    )
