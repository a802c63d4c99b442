"""LogGP: T(n) = L + o_s + o_r + (n − 1)G (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995).

The parameters come from dedicated measurements instead of one curve, in the spirit of the parametrised round
trip times of Hoefler, Lichei and Rehm (IPDPS 2007): o_s and o_r from send and receive overhead at the smallest
size, g and G from windows of back-to-back messages, and L = one way (smallest) − o_s − o_r.

The first message of a window is one way under way, each of the W − 1 others comes g + (n − 1)G after the one
before, and the empty answer is one way too: W · t(n) = T(n) + (W − 1)(g + (n − 1)G) + T(0). Where the larger of g
and (n − 1)G describes the gaps better than their sum, it is taken; `gap_is_larger` and a note say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

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
from hockney.models.base import NEEDS, Fit, Parameter, lack_of, models
from hockney.records.series import Series
from hockney.statistics import Array, t_reach

NEEDS["loggp"] = ("send_overhead", "receive_overhead", "bandwidth")


def _first(series: Series) -> Parameter:
    """The value at the smallest size, with the interval of its measurement where it has one."""
    low, high = float(series.low_s[0]), float(series.high_s[0])
    bounds = (low, high) if low < high else (None, None)
    return Parameter(value=float(series.time_s[0]), low=bounds[0], high=bounds[1], unit="s")


def _difference(whole: Parameter, parts: list[Parameter]) -> Parameter:
    """whole − Σ parts, not below zero; the interval takes the worst of all ends."""
    value = max(0.0, whole.value - sum(part.value for part in parts))
    low = high = None
    ends = [(parameter.low, parameter.high) for parameter in (whole, *parts)]
    known = [(end_low, end_high) for end_low, end_high in ends if end_low is not None and end_high is not None]
    if len(known) == len(ends):
        low = max(0.0, known[0][0] - sum(part[1] for part in known[1:]))
        high = max(0.0, known[0][1] - sum(part[0] for part in known[1:]))
    return Parameter(value=value, low=low, high=high, unit="s")


def _holding(one_way: Parameter, alpha_s: float) -> Parameter:
    """α with the interval of the one-way time, widened where it does not hold α.

    α is the one-way time less G, and more than it where L is set to 0; both may leave a narrow interval.
    """
    low = None if one_way.low is None else min(one_way.low, alpha_s)
    high = None if one_way.high is None else max(one_way.high, alpha_s)
    return Parameter(value=alpha_s, low=low, high=high, unit="s")


@models.register("loggp")
def fit(series: Series) -> Fit:
    """L, o_s, o_r, g, G from the related measurements of `series`.

    RequestError where send_overhead, receive_overhead or bandwidth of the same ranks was not measured.
    """
    if lack := lack_of("loggp", series):
        raise RequestError(
            lack,
            "measure it: `hockney measure` with the operations pingpong, bandwidth, send_overhead and "
            "receive_overhead",
        )
    windowed = series.related["bandwidth"]
    if windowed.size_B.size < 2:
        raise RequestError("loggp needs bandwidth at two sizes or more", "measure more sizes")
    o_s, o_r = (_first(series.related[name]) for name in NEEDS["loggp"][:2])
    one_way = _first(series)
    latency = _difference(one_way, [o_s, o_r])
    notes = []
    if one_way.value < o_s.value + o_r.value:
        notes.append("L is set to 0: sending and receiving overlap, o_s + o_r exceed the one-way time")
    gaps = _gaps(_without_ends(windowed, series))
    gap, gap_per_byte = gaps.per_message, gaps.per_byte
    if gaps.larger:
        notes.append("from one message to the next it takes the larger of g and (n − 1)G, not their sum")
    alpha = latency.value + o_s.value + o_r.value - gap_per_byte.value
    regimes = one_regime(_holding(one_way, max(0.0, alpha)), gap_per_byte)
    parameters = {"L": latency, "o_s": o_s, "o_r": o_r, "g": gap, "G": gap_per_byte}
    bandwidth = reciprocal(gap_per_byte, "B/s")
    line = regimes[0].alpha_s.value, gap_per_byte.value

    def unchanged(size_B: Array, time_s: Array) -> tuple[Array, Array]:  # noqa: ARG001
        # Of the curve itself only the first point enters, so leaving out any other changes nothing.
        alpha_s, beta_s_per_B = np.tile(line, (len(size_B), 1)).T
        return alpha_s, beta_s_per_B

    return Fit(
        model="loggp",
        regimes=regimes,
        parameters=parameters | ({"bandwidth_B_per_s": bandwidth} if bandwidth else {}),
        gap_is_larger=gaps.larger,
        n_half_B=half_bandwidth_size(regimes),
        quality=assess_lines(series.size_B, series.time_s, unchanged, 1),
        notes=notes,
    )


def _without_ends(windowed: Series, one_way: Series) -> Series:
    """Times from one message of a window to the next, where the window is known; sizes that leave none are out.

    RequestError where fewer than two sizes are left.
    """
    window = int(windowed.key.get("window") or 0)
    if window < 2:
        return windowed
    ends_s = np.interp(windowed.size_B, one_way.size_B, one_way.time_s) + one_way.time_s[0]
    inner = [
        (window * time_s - ends_s) / (window - 1) for time_s in (windowed.time_s, windowed.low_s, windowed.high_s)
    ]
    kept = inner[1] > 0
    if np.count_nonzero(kept) < 2:
        raise RequestError(
            f"loggp: windows of {window} messages take no longer than one message and its answer",
            "measure with a larger --window",
        )
    time_s, low_s, high_s = (values[kept] for values in inner)
    return replace(windowed, size_B=windowed.size_B[kept], time_s=time_s, low_s=low_s, high_s=high_s)


@dataclass(frozen=True)
class _Gaps:
    """g, G, and whether a message takes the larger of g and (n − 1)G instead of their sum."""

    per_message: Parameter
    per_byte: Parameter
    larger: bool


def _gaps(windowed: Series) -> _Gaps:
    """Relative residuals, both ≥ 0; what describes the measured gaps better, the sum or the larger of the two.

    Where the network moves one message while the processor prepares the next, the slower of them is the gap.
    """
    beyond, time_s = np.maximum(windowed.size_B - 1, 0.0), windowed.time_s
    freedom = beyond.size - 2
    gap, gap_per_byte = nonnegative_line(beyond, time_s)
    summed = float(np.sum(((gap + gap_per_byte * beyond) / time_s - 1) ** 2))
    larger = _larger(beyond, time_s)
    is_larger = larger is not None and larger.cost < summed
    least = larger.cost if larger is not None and is_larger else summed
    noise = max(float(np.sqrt(least / max(freedom, 1))), measured_noise(windowed))
    if larger is None or not is_larger:
        return _Gaps(*line_parameters(beyond, time_s, gap, gap_per_byte, noise, freedom), larger=False)
    large = slice(larger.flat, None)
    line = line_parameters(beyond[large], time_s[large], larger.start_s, larger.per_byte_s, noise, freedom - 1)
    reach = t_reach(noise / np.sqrt(larger.flat), freedom)
    low_s, high_s = (max(0.0, larger.per_message_s * (1 + sign * reach)) for sign in (-1, 1))
    return _Gaps(Parameter(value=larger.per_message_s, low=low_s, high=high_s, unit="s"), line[1], larger=True)


@dataclass(frozen=True)
class _Larger:
    """max(per_message_s, start_s + per_byte_s · (n − 1)); `flat` points give the one, all further ones the line.

    `start_s`: what a message costs the network beside its own bytes, an envelope. `cost`: the sum of squared
    relative residuals.
    """

    per_message_s: float
    start_s: float
    per_byte_s: float
    flat: int
    cost: float


def _larger(beyond: Array, time_s: Array) -> _Larger | None:
    """Two points at least for the flat part, three for the line; None where there are not so many."""
    weight, candidates = 1 / time_s, []
    for flat in range(2, beyond.size - 2):
        small, large = slice(None, flat), slice(flat, None)
        gap = float(np.sum(weight[small]) / np.sum(weight[small] ** 2))
        start, slope = nonnegative_line(beyond[large], time_s[large])
        residual = np.maximum(gap, start + slope * beyond) * weight - 1
        candidates.append(_Larger(gap, start, slope, flat, float(np.sum(residual**2))))
    return min(candidates, key=lambda candidate: candidate.cost, default=None)
