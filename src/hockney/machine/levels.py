"""Models of an entry at other levels of the machine, and at a given reference within its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import (
    LEAST_SIZES,
    Entry,
    EntryLevel,
    EntryModes,
    Measurements,
    OtherLevel,
    Point,
)
from hockney.models.base import PREFERRED, models
from hockney.records.causes import NOT_SEEN
from hockney.records.exponents import PRIOR, PRIOR_SPREAD, Exponents, reference_exponents
from hockney.records.levels import MOST_DRIFT, Level, may_drift
from hockney.records.record import Record
from hockney.records.visits import Choice, Levels, ranks_of, settle
from hockney.statistics import NORMAL
from hockney.units import format_time, percent

if TYPE_CHECKING:
    from hockney.records.contents import Contents

Words = tuple[str, ...]
Fitted = Callable[[Sequence[Record]], Mapping[Words, Entry]]
"""Entries from records, by what tells them apart."""


def add_levels(
    entries: Mapping[Words, Entry], records: Mapping[Words, Sequence[Record]], contents: Contents, fitted: Fitted
) -> None:
    """Give entries the level that they were measured at and its modes, and models at other levels.

    `records`: those behind each entry. Some ranks of the contents have levels.
    """
    levels = contents.levels
    # A visit without references may have been at any level, and one with a wrong payload measured nothing.
    visits = [record for record in contents.records if record.verified is not False and record.reference_s]
    most = max(map(len, levels.values()))
    others = [_at(_other(contents.choice, place), visits, contents, fitted) for place in range(most - 1)]
    for words, entry in entries.items():
        ranks = [of for of in dict.fromkeys(map(ranks_of, records.get(words, ()))) if of in levels]
        of_entry = [each for each in contents.modes if any(map(each.concern, records.get(words, ())))]
        entry.modes = [EntryModes.model_validate(each, from_attributes=True) for each in of_entry]
        entry.level = _pooled([contents.choice(levels[of]) for of in ranks])
        for place, at_level in enumerate(others):
            level = _pooled([_other(contents.choice, place)(levels[of]) for of in ranks])
            if level is not None:
                entry.other_levels.append(_of(at_level.get(words), entry, level))


def add_exponents(
    entries: Mapping[Words, Entry], visits: Mapping[Words, Sequence[Record]], levels: Levels
) -> None:
    """Give the points of entries the exponent with which they go with the reference.

    `visits`: all that were made for each entry.
    """
    for words, entry in entries.items():
        exponents = reference_exponents(visits.get(words, ()), levels)
        for points in (entry.measurements.points, *(other.points for other in entry.other_levels)):
            for point in points:
                if exponent := exponents.get(point.size_B):
                    point.reference_exponent, point.reference_exponent_error = exponent.value, exponent.error
                    point.large_reference_exponent = exponent.large
                    point.large_reference_exponent_error = exponent.large_error


def goes_with_reference(entry: Entry) -> bool:
    """Whether it is known how the times of an entry go with the reference of its level."""
    return entry.level is not None and any(
        point.reference_exponent is not None for point in entry.measurements.points
    )


def at_reference(entry: Entry, reference_s: float, large_reference_s: float | None = None) -> Entry:
    """The entry with its times as they would be at other references of its level, and models fitted to these.

    The machine drifts within a level, and times go with their references (`hockney.records.exponents`); what is
    not known of an exponent widens intervals, and so does a large reference that is not given, or was not timed
    with the entry. Models other than `PREFERRED` are left out; `level` stays that of the measurement.
    RequestError where the entry knows no level or no exponents, or a reference is of another level.
    """
    level = entry.level
    if level is None or not goes_with_reference(entry):
        raise RequestError(
            f"{entry.operation} was measured without references, or too rarely to tell how times go with them",
            "leave the reference out, or measure anew",
        )
    own_large_s = level.large_reference_s
    pairs = [(reference_s, level.reference_s)]
    if large_reference_s is not None and own_large_s is not None:
        pairs.append((large_reference_s, own_large_s))
    for there_s, own_s in pairs:
        if not may_drift(there_s, own_s):
            raise RequestError(
                f"a reference of {format_time(there_s)} is of another level of the machine than "
                f"{format_time(own_s)}, at which {entry.operation} was measured",
                f"give one within {percent(MOST_DRIFT - 1)}, or measure at that level",
            )
    short, *large = (math.log(there_s / own_s) for there_s, own_s in pairs)
    moves = (short, large[0] if large else None)
    moved = measured_so(entry, [_moved(point, *moves) for point in entry.measurements.points])
    series = replace(
        moved.series,
        eager_limit_B=entry.eager_limit_B,
        breaks_B=tuple(entry.breaks_B),
        is_at_reference=True,
    )
    moved.series = series
    fits = {
        name: models.get(name)(series) if any(moves) else fit
        for name, fit in entry.fits.items()
        if name in PREFERRED
    }
    return entry.model_copy(update={"fits": fits, "measurements": moved})


def _moved(point: Point, short: float, large: float | None) -> Point:
    """A point where ln(reference) is larger by `short`, and that of the large reference by `large`, if known."""
    exponents = Exponents(
        PRIOR if point.reference_exponent is None else point.reference_exponent,
        PRIOR_SPREAD if point.reference_exponent_error is None else point.reference_exponent_error,
        point.large_reference_exponent,
        point.large_reference_exponent_error,
    )
    moves, error = exponents.moved(short, large)
    time_s, bounds, unsure = point.time_s * math.exp(moves), {}, NORMAL * error
    if point.low_s is not None and point.high_s is not None:
        above = math.hypot(math.log(point.high_s / point.time_s), unsure)
        # An interval that reaches 0 goes on doing so.
        below = math.hypot(math.log(point.time_s / point.low_s), unsure) if point.low_s > 0 else math.inf
        bounds = {"low_s": time_s * math.exp(-below), "high_s": time_s * math.exp(above)}
    return point.model_copy(update={"time_s": time_s, **bounds})


def _at(choice: Choice, visits: Sequence[Record], contents: Contents, fitted: Fitted) -> Mapping[Words, Entry]:
    """Entries of what was met at that level."""
    settled = settle(visits, contents.levels, choice)
    missed = set(map(id, settled.elsewhere))
    met = [record for record in settled.records if id(record) not in missed]
    return fitted(met) if met else {}


def _other(choice: Choice, place: int) -> Choice:
    """The level at that place among those that `choice` leaves, the most frequent first."""

    def other(levels: Sequence[Level]) -> Level | None:
        left = sorted((level for level in levels if level is not choice(levels)), key=lambda level: -level.share)
        return left[place] if place < len(left) else None

    return other


def _pooled(levels: Sequence[Level | None]) -> EntryLevel | None:
    """One level of several pairs of ranks."""
    known = [level for level in levels if level is not None]
    if not known:
        return None
    causes = dict.fromkeys(level.cause for level in known)
    large_s = [level.large_reference_s for level in known if level.large_reference_s is not None]
    seen = [cause for cause in causes if cause not in ("", NOT_SEEN)]
    return EntryLevel(
        reference_s=float(np.median([level.reference_s for level in known])),
        large_reference_s=float(np.median(large_s)) if len(large_s) == len(known) else None,
        share=float(np.median([level.share for level in known])),
        stay=float(np.median([level.stay for level in known])),
        cause="; ".join(seen or filter(None, causes)),
    )


def _of(there: Entry | None, entry: Entry, level: EntryLevel | None) -> OtherLevel:
    points = there.measurements.points if there else []
    usual = {point.size_B: point.time_s for point in entry.measurements.points if not point.elsewhere}
    ratios = [point.time_s / usual[point.size_B] for point in points if point.size_B in usual]
    return OtherLevel(
        level=level,
        times_as_long=float(np.median(ratios)) if ratios else None,
        fits=there.fits if there and len(points) >= LEAST_SIZES else {},
        points=points,
    )


def at_other_level(entry: Entry, other: OtherLevel) -> Entry:
    """The entry with the models and points of another of its levels, alone."""
    return entry.model_copy(
        update={
            "fits": other.fits,
            "measurements": measured_so(entry, other.points),
            "level": other.level,
            "other_levels": [],
            "modes": [],
        }
    )


def measured_so(entry: Entry, points: list[Point]) -> Measurements:
    """The measurements of an entry with these points, without its overheads."""
    measured = entry.measurements
    return Measurements(
        campaign=measured.campaign,
        launches=measured.launches,
        points=points,
        last_cache_B=measured.last_cache_B,
        before_last_cache_B=measured.before_last_cache_B,
    )


def level_remark(entry: Entry) -> str:
    """What the other levels would change, and what goes with them; "" where there are none.

    `at the machine's usual speed (88 % of the time); 3.2 × as long in 12 % of it, cause not seen`.
    """
    if entry.level is None or not entry.other_levels:
        return ""
    changes = [
        f"{other.times_as_long:.2g} × as long in {percent(other.level.share)} of it{_cause(other.level)}"
        for other in entry.other_levels
        if other.level is not None and other.times_as_long is not None
    ]
    own = f"at the machine's usual speed ({percent(entry.level.share)} of the time)"
    return "; ".join([own + _cause(entry.level), *changes])


def _cause(level: EntryLevel) -> str:
    return f", {level.cause}" if level.cause else ""
