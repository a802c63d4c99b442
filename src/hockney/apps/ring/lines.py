"""What the lines of a ring say: the latency of a message, T_l = slope/2, beside that of a ping-pong.

One process more sends two messages more, one after the other: T(P + 1) = T(P) + 2 T_l, so T(P) = a + 2 T_l P.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.apps.ring.model import MESSAGE_B, Link
from hockney.apps.ring.study import RingSeries
from hockney.apps.ring.ways import BOTH_WAYS_AT_ONCE
from hockney.machine.file import Machine
from hockney.machine.select import select_entry
from hockney.models.over_ranks.segments import Segment, Segments
from hockney.predict.message import predict_message
from hockney.records.record import LOCALITIES, Locality
from hockney.statistics import Array

Estimate = tuple[float, float, float]
"""A value with its 95 % interval."""


@dataclass(frozen=True)
class LatencyLine:
    """A line of a curve: `locality` of the slowest neighbours on it, `pingpong` of 4 B there; None if unknown."""

    curve: RingSeries
    segment: Segment
    locality: Locality | None = None
    pingpong: Link | None = None

    @property
    def latency_s(self) -> Estimate | None:
        """T_l with its interval; None without a line."""
        return latency_s(self.segment)

    @property
    def ratio(self) -> Estimate | None:
        """T_l over the ping-pong's time; the interval has that of both, the ends None-free or no ratio at all."""
        latency, message = self.latency_s, self.pingpong
        if latency is None or message is None or message.low_s is None or message.high_s is None:
            return None
        value, low, high = latency
        if min(value, low, message.low_s) <= 0:
            return None
        of_both = math.hypot(math.log(high / low) / 2, math.log(message.high_s / message.low_s) / 2)
        ratio = value / message.time_s
        return ratio, ratio * math.exp(-of_both), ratio * math.exp(of_both)

    @property
    def is_of_both_ways(self) -> bool:
        """Whether both messages of a hop travel at once, so that T_l is half a hop."""
        return self.curve.name["exchange"] in BOTH_WAYS_AT_ONCE


def latency_s(segment: Segment, *, absolute: bool = False) -> Estimate | None:
    """Half the slope with its 95 % interval, of the relative fit or of the absolute one."""
    slope = segment.slope_s(absolute=absolute)
    return None if slope is None else (slope[0] / 2, slope[1] / 2, slope[2] / 2)


def latency_lines(
    curve: RingSeries, fitted: Segments | None, pingpong: Callable[[Locality], Link | None]
) -> list[LatencyLine]:
    """The lines of a curve, each with what a ping-pong takes where its slowest neighbours are."""
    lines = []
    for segment in [] if fitted is None else fitted.segments:
        where = farthest(curve, segment)
        lines.append(LatencyLine(curve, segment, where, None if where is None else pingpong(where)))
    return lines


def farthest(curve: RingSeries, segment: Segment) -> Locality | None:
    """How far the farthest neighbours are apart on a line; None where that is unknown, or changes on it."""
    found = {
        max(run.localities, key=LOCALITIES.index) if run.localities else None
        for run in curve.runs
        if segment.first <= run.record.ranks <= segment.last
    }
    return found.pop() if len(found) == 1 else None


def pingpong_of(machine: Machine | None) -> Callable[[Locality], Link | None]:
    """A ping-pong of 4 B at exactly that locality; None where the machine file has none."""
    known = {
        entry.locality
        for entry in (machine.point_to_point if machine is not None else [])
        if entry.operation == "pingpong" and "piecewise" in entry.fits
    }

    def message(locality: Locality) -> Link | None:
        if machine is None or locality not in known:
            return None
        entry = select_entry(machine, {"operation": "pingpong", "locality": locality})
        if "piecewise" not in entry.fits:
            return None
        predicted = predict_message(entry, MESSAGE_B, "piecewise")
        return Link(predicted.time_s, predicted.low_s, predicted.high_s, 0.0)

    return message


def largest_error_s(samples_s: Sequence[float]) -> float | None:
    """(t_max − t_min)/2 over runs; None of fewer than two."""
    return (max(samples_s) - min(samples_s)) / 2 if len(samples_s) > 1 else None


def predicted_s(fitted: Segments, ranks: Array) -> Array:
    """The lines at other numbers of processes, shape of `ranks`; between two lines, the line from end to end."""
    ends = [float(p) for segment in fitted.segments for p in (segment.first, segment.last)]
    values: list[float] = []
    for segment in fitted.segments:
        at = segment.at(np.array([segment.first, segment.last], dtype=np.float64))
        values += [math.nan, math.nan] if at is None else at.tolist()
    return np.interp(ranks, ends, values, left=math.nan, right=math.nan)


def line_data(line: LatencyLine) -> dict[str, Any]:
    """For `--json`; seconds."""
    segment, latency, ratio = line.segment, line.latency_s, line.ratio
    absolute = latency_s(segment, absolute=True)

    def bounds(name: str, values: Estimate | None) -> dict[str, float | None]:
        low, high = ("_low_s", "_high_s") if name.endswith("_s") else ("_low", "_high")
        stem = name.removesuffix("_s")
        names = (name, stem + low, stem + high)
        return dict(zip(names, (None, None, None) if values is None else values, strict=True))

    return {
        "first": segment.first,
        "last": segment.last,
        "points": segment.points,
        "begins": segment.begins,
        "intercept_s": None if segment.fit is None else segment.fit.coefficients[0],
        "slope_s": None if segment.fit is None else segment.fit.coefficients[1],
        "adjusted_r2": None if segment.fit is None else segment.fit.adjusted_r2,
        **bounds("latency_s", latency),
        **bounds("absolute_latency_s", absolute),
        "locality": line.locality,
        "pingpong_s": None if line.pingpong is None else line.pingpong.time_s,
        **bounds("latency_over_pingpong", ratio),
    }
