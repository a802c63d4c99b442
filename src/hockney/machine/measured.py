"""What was measured of each kind of pair, in the few numbers that a reader came for; no model is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from hockney.machine.file import Entry, Point, at_level
from hockney.machine.formula import interval, stated
from hockney.machine.select import UNKNOWN, differences, words
from hockney.models.base import Parameter, preferred_model
from hockney.models.effects.base import Effect
from hockney.records.keys import COLLECTIVES
from hockney.records.series import default_statistic
from hockney.records.table import DIRECTIONS

_UNNAMED = ("operation", "locality", "source")
MOST_NAMED = 2
"""Numbers of an effect that stand in one line."""
_UNIT = re.compile("(_s_per_B|_B_per_s|_s|_B)$")
WINDOWED = ("bandwidth", "bidirectional")
"""Operations whose time of one message is that of a stream, and no latency."""


@dataclass(frozen=True)
class Throughput:
    """Bytes of all pairs and directions over the time that they took, with the interval of that time, in B/s."""

    size_B: int
    rate: Parameter


@dataclass(frozen=True)
class MeasuredPair:
    """One kind of pair. `latency_s`: the time of its `smallest_B` message, None for a stream of messages.

    `peak`: the highest throughput that is sure, by the low ends of intervals; `largest`: that of the largest
    message. `left_out`: by how much the preferred model misses a size that it has not seen, in the median; None
    before a fit.
    """

    name: str
    smallest_B: int | None
    latency_s: Parameter | None
    peak: Throughput | None
    largest: Throughput | None
    eager_limit_B: float | None
    left_out: float | None


@dataclass(frozen=True)
class MeasuredCollective:
    """The library's own choice, or the only algorithm, at the smallest and the largest size measured."""

    operation: str
    ranks: int
    algorithms: int
    algorithm: str
    smallest_B: int
    smallest_s: float
    largest_B: int
    largest_s: float


def effect_lines(effect: Effect) -> list[str]:
    """`overlap, cache: share 0.93 (0.9 to 0.95)`: its first numbers, or why there are none."""
    name = ", ".join(filter(None, [effect.effect, effect.locality]))
    if effect.not_measurable:
        return [f"{name}: not measurable: {effect.not_measurable}"]
    said = [_said(*item) for item in list(effect.parameters.items())[:MOST_NAMED]]
    return [f"{name}: {', '.join(said)}"] if said else []


def _said(called: str, parameter: Parameter) -> str:
    bounds = "" if parameter.low is None else f" ({interval(parameter)})"
    return f"{_UNIT.sub('', called).replace('_', ' ')} {stated(parameter)}{bounds}"


def pairs_of(entry: Entry) -> int:
    """Pairs of ranks that communicate at the same time."""
    pairs = entry.other.get("pairs", "1")
    return int(pairs) if pairs.isdigit() else 1


def throughputs(entry: Entry) -> list[Throughput]:
    """Of each size at the entry's level; none of an empty message."""
    streams = DIRECTIONS.get(entry.operation, 1) * pairs_of(entry)
    return [_throughput(point, streams) for point in at_level(entry.measurements.points) if point.size_B]


def _throughput(point: Point, streams: int) -> Throughput:
    amount_B = streams * point.size_B
    low, high = (None if end is None or end <= 0 else amount_B / end for end in (point.high_s, point.low_s))
    return Throughput(point.size_B, Parameter(value=amount_B / point.time_s, low=low, high=high, unit="B/s"))


def measured_pair(entry: Entry, among: Sequence[Entry] = ()) -> MeasuredPair:
    """The numbers of an entry, named by what tells it from `among`."""
    rates, points = throughputs(entry), at_level(entry.measurements.points)
    latency = None
    if points and entry.operation not in WINDOWED:
        first = points[0]
        latency = Parameter(value=first.time_s, low=first.low_s, high=first.high_s, unit="s")
    model = preferred_model(entry.fits)
    quality = None if model is None else entry.fits[model].quality
    return MeasuredPair(
        name=_name(entry, among),
        smallest_B=points[0].size_B if points else None,
        latency_s=latency,
        peak=surest(rates),
        largest=rates[-1] if rates else None,
        eager_limit_B=entry.eager_limit_B,
        left_out=None if quality is None else quality.leave_one_out_median,
    )


def surest(rates: Sequence[Throughput]) -> Throughput | None:
    """The highest by the low ends of intervals: so a noisy point never is the peak for its noise."""
    return max(rates, key=lambda each: each.rate.value if each.rate.low is None else each.rate.low, default=None)


def measured_pairs(entries: Sequence[Entry]) -> list[MeasuredPair]:
    """Those of all entries, in their order."""
    return [measured_pair(entry, entries) for entry in entries]


def _name(entry: Entry, among: Sequence[Entry]) -> str:
    """`pingpong, cache, tcp`: operation, locality, and what differs from entries of the same operation."""
    telling = differences([other for other in among if other.operation == entry.operation])
    own = words(entry)
    rest = [
        f"{name} {word}" if word.isdigit() else word
        for name, word in own.items()
        if word and name in telling and name not in _UNNAMED
    ]
    locality = "" if own["locality"] == UNKNOWN else own["locality"]
    return ", ".join(filter(None, [entry.operation, locality, *rest]))


def measured_collectives(frame: pd.DataFrame) -> list[MeasuredCollective]:
    """A row for each collective of a tidy table and each of its numbers of ranks."""
    rows = []
    for operation in dict.fromkeys(frame["operation"]):
        if operation in COLLECTIVES:
            at_one = frame[
                (frame["operation"] == operation) & (frame["statistic"] == default_statistic(frame, operation))
            ]
            for ranks, own in at_one.groupby("ranks"):
                rows.append(_collective(operation, int(ranks), own))
    return rows


def _collective(operation: str, ranks: int, rows: pd.DataFrame) -> MeasuredCollective:
    names = list(dict.fromkeys(rows["algorithm"].fillna("")))
    chosen = "default" if "default" in names else names[0]
    times = rows[rows["algorithm"].fillna("") == chosen].groupby("bytes")["time_s"].median().sort_index()
    return MeasuredCollective(
        *(operation, ranks, len(names), chosen or "default"),
        *(int(times.index[0]), float(times.iloc[0]), int(times.index[-1]), float(times.iloc[-1])),
    )
