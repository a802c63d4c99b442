"""Measured times of every kind, and what marks one: another level, other work, disturbances, a wide interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from hockney.machine.file import Entry, Noise, Point
from hockney.machine.select import titles
from hockney.records.answers import Answer, Timed
from hockney.records.columns import POINT, VISITED
from hockney.records.record import Record
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
