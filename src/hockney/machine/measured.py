"""Measured times of every kind: what marks one, and the few numbers of each kind of pair that a reader came for.

A mark is another level, other work, disturbances or a wide interval. No model is asked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import pandas as pd

from hockney.machine.file import Entry, Machine, Noise, Point, at_level
from hockney.machine.formula import interval, stated
from hockney.machine.select import UNKNOWN, collective_title, differences, titles, words
from hockney.models.base import Parameter, preferred_model
from hockney.models.effects.base import Effect
from hockney.records.answers import Answer, Timed
from hockney.records.columns import POINT, VISITED
from hockney.records.keys import COLLECTIVES, DIRECTIONS
from hockney.records.record import Record
from hockney.records.series_of_table import default_statistic
from hockney.units import counted, format_bytes, percent

if TYPE_CHECKING:
    from hockney.records.contents import Contents

DISTURBED_SHARE = 0.05
"""Share of samples set aside above which a reader is warned, and a time is marked."""
QUIET_SHARE, USELESS_SHARE = 0.1, 0.5
"""Shares of the points: marked in a quiet run at most; wide or beside other work in an unusable one at least."""
UNCERTAIN = 0.1
"""Half the width of an interval, as a share of its time, above which a reader is warned, and a time is marked."""
WAITED = 0.05
"""Share of its time that a rank waited for its processor above which a collective's time is marked.

Between two ranks, samples during which one waits are set aside. A collective waits for the slowest of all its
ranks, so that hardly a sample may be left without.
"""

ELSEWHERE, BUSY, DISTURBED, WIDE = "another level", "busy", "disturbed", "wide"
MARKS: Mapping[str, str] = {
    ELSEWHERE: "at another level of the machine",
    BUSY: "beside other work",
    DISTURBED: "disturbed",
    WIDE: f"wider than ±{percent(UNCERTAIN)}",
}
"""What marks a time, in the order in which marks are named, and how a count of them is said."""

_same_point, _same_launch = attrgetter(*POINT), attrgetter(*VISITED)


@dataclass(frozen=True)
class MeasuredTime:
    """A measured time in seconds with its 95 % interval (None: none), and `where` it was measured in words.

    `waited`: the share of the time that the rank which waited longest for its processor did so.
    """

    where: str
    time_s: float
    low_s: float | None
    high_s: float | None
    samples: int
    disturbed: int
    is_elsewhere: bool = False
    waited: float = 0.0

    @property
    def half_width(self) -> float:
        """Half the interval, as a share of the time; 0 where there is none."""
        if self.low_s is None or self.high_s is None or self.time_s <= 0:
            return 0.0
        return (self.high_s - self.low_s) / 2 / self.time_s

    @property
    def marks(self) -> set[str]:
        """What a reader must know of it before trusting it, of `MARKS`."""
        is_marked = {
            ELSEWHERE: self.is_elsewhere,
            BUSY: self.waited > WAITED,
            DISTURBED: self.disturbed > DISTURBED_SHARE * self.samples,
            WIDE: self.half_width > UNCERTAIN,
        }
        return {mark for mark, holds in is_marked.items() if holds}


def of_messages(entries: Sequence[Entry]) -> Iterator[MeasuredTime]:
    """The points of messages between two ranks, and of the processor's time for them."""
    for entry, name in zip(entries, titles(entries), strict=True):
        measured = entry.measurements
        for of, points in {name: measured.points, **measured.overheads}.items():
            where = name if of == name else f"{name}, {of}"
            yield from (of_point(point, where) for point in points)


def of_point(point: Point, where: str) -> MeasuredTime:
    """A point of messages; `where` names its series."""
    return MeasuredTime(
        f"{where}, {format_bytes(point.size_B)}",
        point.time_s,
        point.low_s,
        point.high_s,
        point.samples or 0,
        point.disturbed or 0,
        point.elsewhere,
    )


def of_collectives(contents: Contents) -> Iterator[tuple[Record, MeasuredTime]]:
    """The completion times of collectives, one a launch, with their records."""
    elsewhere = set(map(id, contents.settled.elsewhere))
    waited_s: defaultdict[object, float] = defaultdict(float)
    span_s: defaultdict[object, float] = defaultdict(float)
    for visit in contents.records:
        if visit.statistic == "completion" and visit.causes is not None and visit.causes.waited_s is not None:
            waited_s[_same_launch(visit)] += visit.causes.waited_s
            span_s[_same_launch(visit)] += visit.causes.span_s
    for record in contents.settled.records:
        if record.statistic == "completion":
            yield (
                record,
                MeasuredTime(
                    f"{call(record)}, {format_bytes(record.bytes)}",
                    record.value,
                    record.low,
                    record.high,
                    len(record.samples),
                    record.disturbed or 0,
                    id(record) in elsewhere,
                    waited_s[_same_launch(record)] / (span_s[_same_launch(record)] or 1.0),
                ),
            )


def of_runs(contents: Contents) -> Iterator[MeasuredTime]:
    """The times of applications and effects."""
    for app in contents.apps:
        # An application's answer is read back as it was written, without a type of its own.
        disturbed = len(_disturbed_at(app.answer))
        where = f"{app.operation} on {app.ranks} rank{'s' * (app.ranks != 1)}"
        if cells := [str(app.parameters[name]) for name in ("nx", "ny", "nz") if name in app.parameters]:
            where += f", {'x'.join(cells)}"
        if grid := [str(app.parameters[name]) for name in ("px", "py", "pz") if name in app.parameters]:
            where += f", grid {'x'.join(grid)}"
        where += f", {app.parameters['exchange']}" if "exchange" in app.parameters else ""
        yield MeasuredTime(where, app.time_s, app.low_s, app.high_s, len(app.samples_s), disturbed)
    for effect in contents.effects:
        if isinstance(said := effect.answer, Timed):
            yield MeasuredTime(
                effect.effect,
                said.time_s,
                said.low_s,
                said.high_s,
                len(said.samples_s),
                len(said.disturbed_at),
            )


def call(record: Record) -> str:
    """`bcast binomial on 8 ranks`."""
    on = f"on {counted(record.ranks, 'rank')}" if record.ranks else ""
    return " ".join(filter(None, [record.operation, record.algorithm, on]))


def marks_of(entries: Sequence[Entry], contents: Contents) -> list[tuple[str, set[str]]]:
    """Every point in words, with its marks; a point of a collective has those of all its launches.

    Those of which neither samples nor an interval are known cannot be marked, and are left out.
    """
    collectives: dict[object, tuple[str, set[str]]] = {}
    for record, time in of_collectives(contents):
        collectives.setdefault(_same_point(record), (time.where, set()))[1].update(time.marks)
    singles = [*of_messages(entries), *of_runs(contents)]
    timed = [(time.where, time.marks) for time in singles if time.samples or time.low_s is not None]
    return [*timed, *collectives.values()]


def noise(points: Sequence[tuple[str, set[str]]]) -> Noise:
    """The kind of a run with these points, each with its marks."""
    if not points:
        return ""
    if sum(bool(marks & {WIDE, BUSY}) for _, marks in points) >= USELESS_SHARE * len(points):
        return "unusable"
    return "quiet" if sum(bool(marks) for _, marks in points) <= QUIET_SHARE * len(points) else "disturbed"


def marked(points: Sequence[tuple[str, set[str]]]) -> str:
    """`3 of 80 points are noisy: 2 disturbed, 1 wider than ±10 %.`; empty where none is."""
    counts = {mark: sum(mark in marks for _, marks in points) for mark in MARKS}
    if not any(counts.values()):
        return ""
    parts = ", ".join(f"{count} {MARKS[mark]}" for mark, count in counts.items() if count)
    return f"{sum(bool(marks) for _, marks in points)} of {len(points)} points are noisy: {parts}."


def _disturbed_at(answer: Answer) -> Sequence[int]:
    indices = getattr(answer, "disturbed_at", ())
    return indices if isinstance(indices, list) else ()


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


def beside_pairs(machine: Machine) -> list[str]:
    """A line for each effect and each model of a collective, the library's own choices first."""
    models = sorted(machine.collectives, key=lambda model: bool(model.algorithm))
    return [
        *(line for effect in machine.effects for line in effect_lines(effect)),
        *(f"{collective_title(model, models)}: {model.quality_in_short}" for model in models),
    ]


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
