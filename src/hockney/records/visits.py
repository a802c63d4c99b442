"""What the visits of a point come to: its time at a level of the machine, and how far visits differ.

A visit's time at a level is the median of the samples whose groups lie between two references of that level; a
point's is the steady median of its visits' times. The 95 % interval comes from how visits of one point differ: of
few, pooled over the points of the same operation on the same ranks; of many, from how the middle ones lie
(Student's t), where those of one launch are no independent witnesses. It is never narrower than what the samples
of a visit say. Without references (older campaigns, ranks that share a core) all samples are of one level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hockney import _core
from hockney.records.columns import POINT, VISITED
from hockney.records.levels import Array, Level, common, find_levels, groups_at, quietest, strayed
from hockney.records.record import Bracketed, Record, Wanted
from hockney.statistics import (
    LEAST_FREEDOM,
    MEDIAN_FACTOR,
    MOST_POOLED,
    MOST_REACH,
    most_like,
    steady_median,
    steady_median_error,
    steady_median_factor,
    t_reach,
    typical_variance,
)
from hockney.units import grouped

if TYPE_CHECKING:
    from hockney.records.journal import StoredPlan

Ranks = tuple[object, ...]
"""What says which ranks a record's references are of."""
Levels = Mapping[Ranks, Sequence[Level]]
"""The levels of all ranks that have references, the fastest first."""
Spread = tuple[float, int]
"""The variance between visits of points that are alike, and its degrees of freedom."""
Choice = Callable[[Sequence[Level]], Level | None]
"""Which of its levels ranks are asked for; None: they have no such level."""

CHOICES: Mapping[Wanted, Choice] = {"common": common, "quietest": quietest, "all": common}

LEAST_SAMPLES = 6
"""Fewer at a level say nothing about a visit: their extremes are no 95 % interval."""

SUBTRACTED = ("send_overhead",)
"""Operations whose time is the difference of two."""

MANY = 12
"""So many visits tell how well their median is known; fewer do with those of points that are alike."""

UNLIKE = 0.01
"""A spread that the others' would give so rarely is a point's own: rarer than for launches, points are many."""

_point = attrgetter(*VISITED)
_same = attrgetter(*POINT)
ranks_of = attrgetter("system", "mpi", "variant", "mapping", "nodes", "ppn", "ranks", "pair")


@dataclass(frozen=True)
class Settled:
    """The records that count, one a point and launch, each with the other statistics of its samples behind it.

    `elsewhere` holds those of points that no launch met at the level asked for: all their samples count. Where
    another launch met it, the record of one that did not is left out, and is one of `left_out` instead.
    `spreads`: how far visits differ, for each kind of points.
    """

    records: list[Record] = field(default_factory=list)
    elsewhere: list[Record] = field(default_factory=list)
    left_out: list[Record] = field(default_factory=list)
    spreads: dict[Ranks, Spread] = field(default_factory=dict)


def settle(
    records: Sequence[Record],
    levels: Levels,
    choice: Choice = common,
    spreads: Mapping[Ranks, Spread] | None = None,
) -> Settled:
    """What the visits of each point in each launch come to; records of other programs count as they are.

    `levels` as of `levels_of`; with none, all samples count. `spreads`: those of other points that are alike;
    without it, of these points themselves.
    """
    visits: dict[object, list[Record]] = {}
    followers: dict[str, list[Record]] = {}
    for number, record in enumerate(records):
        if record.visit and record.statistic != "completion":
            followers.setdefault(record.visit, []).append(record)
        else:
            visits.setdefault(_point(record) if record.source == "hockney" else number, []).append(record)
    points: dict[object, _Point] = {}
    elsewhere = []
    for key, all_visits in visits.items():
        if _counts_as_it_is(all_visits[0]):
            continue
        of_point = _undelayed(all_visits)
        there = _visits_at(of_point, levels, choice)
        points[key] = _Point(there or _visits_at(of_point, {}, choice))
        if not there:
            elsewhere.append(key)
    if spreads is None:
        alike = grouped(points.values(), lambda point: point.kind)
        spreads = {kind: _pooled(of_kind) for kind, of_kind in alike.items()}
    missed = set(elsewhere)
    met = {_same(point.visits[0].record) for key, point in points.items() if key not in missed}
    settled = {
        key: point.record(spreads.get(point.kind, (0.0, 0)))
        for key, point in points.items()
        if key not in missed or _same(point.visits[0].record) not in met
    }
    heads = [
        settled[key] if key in points else all_visits[0]
        for key, all_visits in visits.items()
        if key in settled or key not in points
    ]
    return Settled(
        [each for record in heads for each in (record, *followers.get(record.visit, ()))],
        [settled[key] for key in elsewhere if key in settled],
        [points[key].visits[0].record for key in elsewhere if key not in settled],
        dict(spreads),
    )


def _undelayed(visits: Sequence[Record]) -> Sequence[Record]:
    """Without those whose ranks shared a core, and waited for it, where others did not."""
    return [visit for visit in visits if not visit.oversubscribed] or visits


def _counts_as_it_is(record: Record) -> bool:
    """Whether it has no visits beside it, and no samples at a level: what another program printed."""
    return record.source != "hockney" and not record.samples


def levels_of(records: Iterable[Record]) -> dict[Ranks, list[Level]]:
    """The levels of all ranks that have references, from records in the order of time.

    Ranks that share a core have none: they wait for it, and so do their references.
    """
    return levels_by((ranks_of(record), record) for record in records if not record.oversubscribed)


def levels_by(visits: Iterable[tuple[Ranks, Bracketed]]) -> dict[Ranks, list[Level]]:
    """The levels of all ranks that have references, from visits in the order of time, each with its ranks."""
    references: dict[Ranks, tuple[list[float], list[float]]] = {}
    large: dict[Ranks, list[tuple[float, float]]] = {}
    for ranks, visit in visits:
        if not visit.reference_s:
            continue
        times_s, iqrs_s = references.setdefault(ranks, ([], []))
        times_s += visit.reference_s
        iqrs_s += visit.reference_iqr_s
        large.setdefault(ranks, []).extend(zip(visit.reference_s, visit.large_reference_s, strict=False))
    levels = {ranks: find_levels(*of_ranks) for ranks, of_ranks in references.items()}
    return {
        ranks: [_with_large(level, large[ranks]) for level in of_ranks]
        for ranks, of_ranks in levels.items()
        if of_ranks
    }


def _with_large(level: Level, references_s: Sequence[tuple[float, float]]) -> Level:
    """The level with the time of a large message right after its references; `references_s`: pairs of both."""
    large_s = [large_s for reference_s, large_s in references_s if level.holds(reference_s)]
    return replace(level, large_reference_s=median(large_s)) if large_s else level


def choice_of(plan: StoredPlan) -> Choice:
    """The level that a campaign's plan asks for; older plans ask for none, and get the common one."""
    return next((choice for name, choice in CHOICES.items() if name == plan.level), common)


def at(place: int) -> Choice:
    """The level at that place, the fastest being 0."""
    return lambda levels: levels[place] if place < len(levels) else None


def samples_at(record: Record, levels: Levels, choice: Choice = common) -> Array:
    """The samples of a visit that lie at the chosen level of its ranks, shape (n,).

    All where all lie there. Otherwise those that were disturbed are left out, and there are none of a visit of
    which fewer than `LEAST_SAMPLES`, and less than half, lie there.
    """
    samples, is_there = np.asarray(record.samples, dtype=np.float64), _of_record_is_at(record, levels, choice)
    if np.all(is_there):
        return samples
    is_there[record.disturbed_at] = False
    return samples[is_there if np.count_nonzero(is_there) >= min(LEAST_SAMPLES, (samples.size + 1) // 2) else []]


def _of_record_is_at(record: Record, levels: Levels, choice: Choice) -> NDArray[np.bool_]:
    of_ranks = () if record.oversubscribed else levels.get(ranks_of(record), ())
    return is_at(record, len(record.samples), of_ranks, choice)


def is_at(visit: Bracketed, count: int, levels: Sequence[Level], choice: Choice = common) -> NDArray[np.bool_]:
    """Whether the group of each of a visit's `count` samples lies at the chosen level of its ranks, shape (n,).

    All do where the ranks have no levels; where they have one, all but those that `strayed`.
    """
    level = choice(levels) if levels else None
    if levels and level is None:
        return np.zeros(count, dtype=bool)
    if level is None or not visit.reference_s:
        return np.ones(count, dtype=bool)
    is_only = len(levels) == 1
    is_there = np.full(count, is_only)
    for group in strayed(visit, count, level) if is_only else groups_at(visit, count, level):
        is_there[group] = not is_only
    return is_there


@dataclass(frozen=True)
class _Visit:
    """A visit at a level: the median of its samples there, and its interval (both bounds the median: none).

    `disturbed`: how many of its samples there were set aside, None where nobody says.
    """

    record: Record
    samples: Array
    disturbed: int | None
    value: float
    low: float
    high: float


def _visits_at(records: Sequence[Record], levels: Levels, choice: Choice) -> list[_Visit]:
    """The visits of a point that were at the level."""
    visits = []
    for record in records:
        samples = samples_at(record, levels, choice)
        if samples.size == len(record.samples):
            # All of it counts, and so does what the runner said of it, without the samples that were disturbed.
            low, high = record.value if record.low is None else record.low, record.high or record.value
            visits.append(_Visit(record, samples, record.disturbed, record.value, low, high))
        elif samples.size and (interval := _core.median_interval(samples.tolist()))[0] > 0:
            disturbed = int(np.count_nonzero(_of_record_is_at(record, levels, choice)[record.disturbed_at]))
            # Where they count, which of them were at the level is not known.
            disturbed += max((record.disturbed or 0) - len(record.disturbed_at), 0)
            visits.append(_Visit(record, samples, disturbed, *interval))
    return visits


def visit_times(records: Sequence[Record], levels: Levels, choice: Choice = common) -> list[float]:
    """The times of those visits of a point that were at the level."""
    return [visit.value for visit in _visits_at(records, levels, choice)]


ByLaunch = Mapping[str, Sequence[float]]
"""Logarithms of the times of a point's visits in each launch, in their order."""


def by_launch(times_s: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """The times of a point's visits, each with its launch; those that are not above 0 have no logarithm."""
    logarithms: dict[str, list[float]] = {}
    for launch, time_s in times_s:
        if time_s > 0:
            logarithms.setdefault(launch, []).append(math.log(time_s))
    return logarithms


def visits_by_launch(visits: Sequence[Record], levels: Levels, choice: Choice = common) -> dict[str, list[float]]:
    """The same of the visits of one point, in their order: those at the level."""
    visited = ((visit.launch, visit_times([visit], levels, choice)) for visit in _undelayed(visits))
    return by_launch((launch, time_s) for launch, times_s in visited for time_s in times_s)


def taken_together(several: Sequence[ByLaunch]) -> ByLaunch:
    """Of points that do the same, in each launch that visited one: the median of the visits beside each other."""
    together = {}
    for launch in dict.fromkeys(launch for visits in several for launch in visits):
        beside = zip_longest(*(visits[launch] for visits in several if launch in visits))
        together[launch] = [median(time for time in times if time is not None) for times in beside]
    return together


def ratio_in_pairs(one: ByLaunch, other: ByLaunch) -> tuple[float, float] | None:
    """ln of the time of one point over that of another, and half its 95 % interval; None: too few pairs.

    For points that are visited beside each other: what is common to both then, of the launch or of that moment,
    does not count. One pair is what a launch says, or where there are few launches a visit of each.
    """
    shared = [launch for launch in one if launch in other]
    if len(shared) >= MANY:
        apart = [[float(np.median(one[launch]) - np.median(other[launch]))] for launch in shared]
    else:
        apart = [[a - b for a, b in zip(one[launch], other[launch], strict=False)] for launch in shared]
    every = np.concatenate(apart) if apart else np.array([])
    if every.size < MANY:
        return None
    return math.log(steady_median(np.exp(every[None, :]))[0]), _reach(apart)


def _reach(launches: Sequence[Sequence[float]]) -> float:
    """Half the width of the interval of the median of many logarithms, by launch, from how they lie.

    Those of one launch have in common what differs between launches: of many launches each counts once, and some
    say by their variance how far off their mean is. Two or three do not tell.
    """
    middles = np.array([np.median(of_launch) for of_launch in launches])
    if middles.size >= MANY:
        return t_reach(steady_median_error(middles), middles.size - 1)
    every = np.concatenate(launches)
    reach = t_reach(steady_median_error(every), every.size - 1)
    if middles.size - 1 > LEAST_FREEDOM:
        error = MEDIAN_FACTOR * float(middles.std(ddof=1)) / math.sqrt(middles.size)
        reach = max(reach, t_reach(error, middles.size - 1))
    return reach


class _Point:
    """The visits of a point in a launch that were at the level."""

    def __init__(self, visits: Sequence[_Visit]) -> None:
        first = visits[0].record
        self.visits = visits
        values = np.array([visit.value for visit in visits])
        # What is between visits adds to a difference of two times, and multiplies others: those are compared by
        # their logarithms.
        self.is_multiplied = first.operation not in SUBTRACTED and bool(np.all(values > 0))
        self.kind: Ranks = (*ranks_of(first), first.operation, first.statistic, self.is_multiplied)
        self.freedom = values.size - 1
        compared = np.log(values) if self.is_multiplied else values
        if self.is_multiplied:
            self.value = float(steady_median(values[None, :])[0])
            self.factor = float(steady_median_factor(compared[None, :])[0])
        else:
            self.value = float(np.median(values))
            self.factor = MEDIAN_FACTOR if self.freedom > 1 else 1.0
        self.variance = float(np.var(compared, ddof=1)) if self.freedom else 0.0
        self.reach: float | None = None
        if self.is_multiplied and values.size >= MANY:
            launches = by_launch((visit.record.launch, visit.value) for visit in visits)
            self.reach = _reach(list(launches.values()))

    def record(self, pooled: Spread) -> Record:
        """The record that stands for the point; `pooled`: the variance of visits alike, and its freedom."""
        nearest = min(self.visits, key=lambda visit: abs(visit.value - self.value)).record
        root, between = math.sqrt(len(self.visits)), self._between(*pooled)
        below = float(np.median([visit.value - visit.low for visit in self.visits])) / root
        above = float(np.median([visit.high - visit.value for visit in self.visits])) / root
        if nearest.source != "hockney" or not (below or above or between):
            return nearest
        samples = [float(sample) for visit in self.visits for sample in visit.samples]
        if self.is_multiplied:
            factor = math.exp(min(between, MOST_REACH))
            low, high = min(self.value - below, self.value / factor), max(self.value + above, self.value * factor)
        else:
            low, high = max(0.0, self.value - max(below, between)), self.value + max(above, between)
        known = [visit.disturbed for visit in self.visits if visit.disturbed is not None]
        return nearest.model_copy(
            update={
                "value": self.value,
                "low": low,
                "high": high,
                "samples": samples,
                "disturbed": sum(known) if known else None,
                # Indices are of one visit's samples; these are of several.
                "disturbed_at": [],
                "sample_roots": [],
            }
        )

    def _between(self, variance: float, freedom: int) -> float:
        """Half the width of the interval of the median of visits, in the units of the variance; 0: unknown."""
        if self.reach is not None:
            return self.reach
        freedom = max(0, min(freedom - self.freedom, MOST_POOLED))  # its own are among them
        if freedom + self.freedom == 0:
            return 0.0
        if self.freedom >= LEAST_FREEDOM and self.variance > variance * most_like(UNLIKE, self.freedom, freedom):
            # Large messages, say, which share a cache with others, scatter more than small ones.
            freedom = 0
        variance = (freedom * variance + self.freedom * self.variance) / (freedom + self.freedom)
        return t_reach(self.factor * math.sqrt(variance / (self.freedom + 1)), freedom + self.freedom)


def _pooled(points: Sequence[_Point]) -> Spread:
    """The variance between visits of points that are alike, and its freedom."""
    several = [point for point in points if point.freedom]
    if not several:
        return 0.0, 0
    variances = np.array([point.variance for point in several])
    freedoms = np.array([point.freedom for point in several])
    return typical_variance(variances, freedoms), int(freedoms.sum())
