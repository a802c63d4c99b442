"""What the visits of a point come to: its time at the common level of the machine, and how far visits differ.

A visit's time at a level is the median of its samples at it; a point's is the median of its visits' times. The
95 % interval comes from how visits of one point differ, pooled over the points of the same operation on the same
ranks (Student's t), and is never narrower than what the visits say of themselves. Visits without references, as
older campaigns have, and points that were never met at the common level stand as their quietest visit, because
disturbances lengthen times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from hockney.records.columns import VISITED
from hockney.records.levels import Array, Level, common, find_levels
from hockney.records.record import Record
from hockney.statistics import t_reach

Ranks = tuple[object, ...]
"""What says which ranks a record's references are of."""

MOST_POOLED = 8
"""Degrees of freedom that the pooled spread counts for beside a point's own visits."""
MEDIAN_FACTOR = 1.25
"""Standard error of a median of normal values beside that of their mean, √(π/2); of two they are the same."""

_point = attrgetter(*VISITED)
ranks_of = attrgetter("system", "mpi", "variant", "mapping", "nodes", "ppn", "ranks", "pair")


@dataclass(frozen=True)
class Settled:
    """The records that count, one a point and launch, each with the other statistics of its samples behind it.

    `elsewhere` holds those of points that were never met at the common level of their ranks.
    """

    records: list[Record]
    elsewhere: list[Record]


def settle(records: Sequence[Record], levels: Mapping[Ranks, Sequence[Level]] | None = None) -> Settled:
    """What the visits of each point in each launch come to; records of other programs count as they are.

    `levels` are those of the records themselves, unless they are given: see `levels_of`.
    """
    levels = levels_of(records) if levels is None else levels
    visits: dict[object, list[Record]] = {}
    followers: dict[str, list[Record]] = {}
    for number, record in enumerate(records):
        if record.visit and record.statistic != "completion":
            followers.setdefault(record.visit, []).append(record)
        else:
            visits.setdefault(_point(record) if record.source == "hockney" else number, []).append(record)
    points = [_Point(of_point, [samples_at(visit, levels) for visit in of_point]) for of_point in visits.values()]
    spreads: dict[Ranks, _Spread] = {}
    for point in points:
        spreads.setdefault(point.kind, _Spread()).add(point.deviations)
    settled = Settled([], [])
    for point in points:
        record = point.record(spreads[point.kind])
        settled.records.extend([record, *followers.get(record.visit, ())])
        if not point.is_at_level and point.visits[0].reference_s:
            settled.elsewhere.append(record)
    return settled


def levels_of(records: Iterable[Record]) -> dict[Ranks, list[Level]]:
    """The levels of all ranks that have references, the fastest first, from records in the order of time.

    Ranks that share a core have none: they wait for it, and so do their references.
    """
    references: dict[Ranks, tuple[list[float], list[float]]] = {}
    for record in records:
        if record.reference_s and not record.oversubscribed:
            times_s, iqrs_s = references.setdefault(ranks_of(record), ([], []))
            times_s += record.reference_s
            iqrs_s += record.reference_iqr_s
    levels = {ranks: find_levels(*of_ranks) for ranks, of_ranks in references.items()}
    return {ranks: of_ranks for ranks, of_ranks in levels.items() if of_ranks}


def samples_at(record: Record, levels: Mapping[Ranks, Sequence[Level]]) -> Array:
    """The samples of a visit that lie at the common level of its ranks, shape (n,).

    All of them where no levels are known; none of a visit without references.
    """
    samples = np.asarray(record.samples, dtype=np.float64)
    of_ranks = levels.get(ranks_of(record))
    if not record.reference_s or not of_ranks:
        return samples[: samples.size if record.reference_s else 0]
    level = common(of_ranks)
    begins = [*record.group_begins, samples.size]
    ends = zip(begins[:-1], begins[1:], record.reference_s[:-1], record.reference_s[1:], strict=False)
    inside = [samples[first:last] for first, last, *both in ends if all(map(level.holds, both))]
    return np.concatenate(inside) if inside else samples[:0]


@dataclass
class _Spread:
    """How visits differ from their point's time, relatively: the sum of squares, and its degrees of freedom."""

    square: float = 0.0
    freedom: int = 0

    def add(self, deviations: Array) -> None:
        if deviations.size > 1:
            self.square += float(np.sum(deviations**2))
            self.freedom += deviations.size - 1


@dataclass(frozen=True)
class _Point:
    """The visits of a point in a launch, and the samples of each at the level."""

    visits: list[Record]
    samples_s: list[Array]

    @property
    def kind(self) -> Ranks:
        """The points with which its spread is pooled."""
        return (*ranks_of(self.visits[0]), self.visits[0].operation)

    @property
    def medians(self) -> Array:
        """The time of each visit at the level, of those that were there, shape (visits,)."""
        return np.array([np.median(samples) for samples in self.samples_s if samples.size])

    @property
    def is_at_level(self) -> bool:
        return self.medians.size > 0 and float(np.median(self.medians)) > 0

    @property
    def deviations(self) -> Array:
        if not self.is_at_level:
            return np.zeros(0)
        centre = float(np.median(self.medians))
        # A median of three takes one of them for itself; the mean would lose as much.
        return self.medians / centre - float(np.mean(self.medians / centre))

    def record(self, pooled: _Spread) -> Record:
        """The record that stands for the point."""
        if not self.is_at_level:
            return min(self.visits, key=lambda visit: visit.value)
        there = [visit for visit, samples in zip(self.visits, self.samples_s, strict=True) if samples.size]
        medians, count = self.medians, self.medians.size
        value = float(np.median(medians))
        nearest = there[int(np.argmin(np.abs(medians - value)))]
        reach = max(value * self._between(pooled), self._within(there))
        samples = [float(sample) for visit in self.samples_s for sample in visit]
        return nearest.model_copy(
            update={"value": value, "low": max(0.0, value - reach), "high": value + reach, "samples": samples}
            if count > 1 or len(samples) < len(nearest.samples)
            else {"low": max(0.0, value - reach), "high": value + reach}
        )

    def _between(self, pooled: _Spread) -> float:
        """Half the relative width of the interval, from how visits differ; 0 where no point has two."""
        if not pooled.freedom:
            return 0.0
        shared = min(MOST_POOLED, pooled.freedom)
        own, count = self.deviations, self.medians.size
        freedom = shared + max(own.size - 1, 0)
        variance = (shared * pooled.square / pooled.freedom + float(np.sum(own**2))) / freedom
        factor = MEDIAN_FACTOR if count > 2 else 1.0
        return t_reach(factor * math.sqrt(variance / count), freedom)

    def _within(self, there: Sequence[Record]) -> float:
        """Half the width of the interval that the visits' own samples give to their median."""
        halves = [
            (visit.high - visit.low) / 2 for visit in there if visit.low is not None and visit.high is not None
        ]
        return float(np.median(halves)) / math.sqrt(len(halves)) if halves else 0.0
