"""What the lines of a ring say: the latency of a message, T_l = slope/2, beside that of a ping-pong.

One process more sends two messages more, one after the other: T(P + 1) = T(P) + 2 T_l, so T(P) = a + 2 T_l P.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hockney.apps.ring.app import BOTH_AT_ONCE
from hockney.apps.ring.model import Link
from hockney.apps.ring.rings import RingSeries
from hockney.models.base import Parameter
from hockney.models.over_ranks.boundaries import Boundary, begins
from hockney.models.over_ranks.segments import Segment, Segments
from hockney.records.record import LOCALITIES, Locality
from hockney.units import counted, format_time

Estimate = tuple[float | None, float | None, float | None]
"""A value with its 95 % interval."""


@dataclass(frozen=True)
class LatencyLine:
    """A line T(P) = a + 2 T_l P of a curve from `first` to `last`; what is not known is None.

    `latency_s` is T_l by the relative fit, `absolute_latency_s` by the absolute one, each with its 95 % interval.
    `locality` of the slowest neighbours on it, `pingpong_s` of 4 B there; the interval of the ratio has that of
    both. `is_of_both_ways`: both messages of a hop travel at once, so that T_l is half a hop.
    """

    first: int
    last: int
    points: int
    begins: Locality | None
    intercept_s: float | None
    slope_s: float | None
    adjusted_r2: float | None
    latency_s: float | None
    latency_low_s: float | None
    latency_high_s: float | None
    absolute_latency_s: float | None
    absolute_latency_low_s: float | None
    absolute_latency_high_s: float | None
    locality: Locality | None
    pingpong_s: float | None
    latency_over_pingpong: float | None
    latency_over_pingpong_low: float | None
    latency_over_pingpong_high: float | None
    is_of_both_ways: Annotated[bool, Field(exclude=True)]

    @property
    def latency(self) -> str:
        """In words, with its interval; empty without a line."""
        if self.latency_s is None:
            return ""
        return f"{signed(self.latency_s)} (95 %: {signed(self.latency_low_s)} to {signed(self.latency_high_s)})"

    def ratio(self, between: str) -> str:
        """T_l over the ping-pong's time with its interval in parentheses, after words; empty if unknown."""
        if self.latency_over_pingpong is None:
            return ""
        low, high = self.latency_over_pingpong_low, self.latency_over_pingpong_high
        return f"{self.latency_over_pingpong:.3g}{between}({low:.3g} to {high:.3g})"


def latency_of(segment: Segment, *, absolute: bool = False) -> Estimate:
    """Half the slope in seconds with its 95 % interval, of the relative fit or of the absolute one."""
    slope = segment.slope_s(absolute=absolute)
    return (None, None, None) if slope is None else (slope[0] / 2, slope[1] / 2, slope[2] / 2)


PingPong = Callable[[Locality], Link | None]
"""What a ping-pong of 4 B takes at a locality, None where that was not measured."""


def latency_line(curve: RingSeries, segment: Segment, pingpong: PingPong | None) -> LatencyLine:
    """A line of a curve, with what a ping-pong takes where its slowest neighbours are."""
    locality = farthest(curve, segment)
    message = pingpong(locality) if pingpong and locality else None
    latency = latency_of(segment)
    fit = segment.fit
    intercept_s, slope_s = (None, None) if fit is None else fit.coefficients[:2]
    return LatencyLine(
        segment.first,
        segment.last,
        segment.points,
        segment.begins,
        intercept_s,
        slope_s,
        None if fit is None else fit.adjusted_r2,
        *latency,
        *latency_of(segment, absolute=True),
        locality,
        None if message is None else message.time_s,
        *_over(latency, message),
        curve.name.exchange in BOTH_AT_ONCE,
    )


def _over(latency: Estimate, message: Link | None) -> Estimate:
    """T_l over the ping-pong's time; the interval has that of both, without which there is no ratio."""
    if latency[0] is None or latency[0] <= 0 or message is None:
        return None, None, None
    time_s = Parameter(value=message.time_s, low=message.low_s, high=message.high_s, unit="s")
    ratio = Parameter(value=latency[0], low=latency[1], high=latency[2], unit="s").times(time_s.inverse)
    return (None, None, None) if ratio.low is None else (ratio.value, ratio.low, ratio.high)


def farthest(curve: RingSeries, segment: Segment) -> Locality | None:
    """How far the farthest neighbours are apart on a line; None where that is unknown, or changes on it."""
    localities = {
        max(run.localities, key=LOCALITIES.index) if run.localities else None
        for run in curve.runs
        if segment.first <= run.record.ranks <= segment.last
    }
    return localities.pop() if len(localities) == 1 else None


@dataclass(frozen=True)
class TestedBoundary(Boundary):
    """A place where something begins, and whether time breaks there; None: too few points to tell."""

    breaks: bool | None


@dataclass(frozen=True)
class RingComparison:
    """A curve, and the lines between its breaks."""

    system: str
    mpi: str
    mapping: str
    variant: str
    topology: str
    exchange: str
    segments: list[LatencyLine]
    boundaries: list[TestedBoundary]
    curve: Annotated[RingSeries, Field(exclude=True)]
    fitted: Annotated[Segments | None, Field(exclude=True)]


def compared(curves: Sequence[RingSeries], pingpong: PingPong | None = None) -> list[RingComparison]:
    """Each curve with its lines."""
    comparisons = []
    for curve in curves:
        fitted = curve.fitted()
        tested = [
            TestedBoundary(**vars(boundary), breaks=breaks)
            for boundary, breaks in (fitted.examined.items() if fitted else ())
        ]
        lines = [latency_line(curve, segment, pingpong) for segment in (fitted.segments if fitted else [])]
        comparisons.append(RingComparison(*curve.name, lines, tested, curve, fitted))
    return comparisons


def in_words(comparison: RingComparison) -> list[str]:
    """The lines of a curve and its boundaries without a break; nothing of a single run."""
    if comparison.fitted is None or len(comparison.curve.runs) < 2:
        return []
    return [*(_line(line) for line in comparison.segments), *(f"  {place}" for place in unbroken(comparison))]


def unbroken(comparison: RingComparison) -> list[str]:
    """Boundaries of the placement at which a curve has no break, or too few points to tell."""
    lines = [
        f"{tested.before} to {tested.after}, {begins(tested.level)} begins: no break"
        for tested in comparison.boundaries
        if tested.breaks is False
    ]
    # Of ranks that have a node each, every one is a boundary.
    if count := sum(tested.breaks is None for tested in comparison.boundaries):
        places = counted(count, "place")
        lines.append(f"at {places} where something begins: too few numbers of processes to tell")
    return lines


def _line(line: LatencyLine) -> str:
    from_there = f" ({begins(line.begins)} begins)" if line.begins else ""
    processes = f"  {line.first} to {counted(line.last, 'process', plural='processes')}{from_there}: "
    if line.latency_s is None:
        return f"{processes}{line.points} numbers of processes: too few for a line"
    text = f"{processes}latency of a message = slope/2 = {line.latency}, adjusted R² {line.adjusted_r2:.4f}"
    if ratio := line.ratio(f" of a ping-pong at {line.locality} "):
        text += f"; {ratio}"
    return text


def signed(time_s: float | None) -> str:
    """A time that may be negative; empty for None."""
    if time_s is None:
        return ""
    return f"−{format_time(-time_s)}" if time_s < 0 else format_time(time_s)
