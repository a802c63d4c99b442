"""What is fastest: the one rule of when two times differ, which pages, tables, `tune` and `predict` all ask."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

import numpy as np
import pandas as pd

from hockney.models.base import DEFAULT as DEFAULT
from hockney.models.base import TIE, are_faster
from hockney.models.over_ranks.points import (
    PLACED,
    Configuration,
    Visits,
    positions,
    same_schedule,
    visits_at,
    with_schedules_joined,
)
from hockney.records.visits import ByLaunch, ratio_in_pairs, taken_together

UNKNOWN = 0.1
"""Half the width, as a share, that the interval of a time gets where nobody stated one."""
CRITERION = (
    "An algorithm is faster than another only where their times differ by more than 2 % and by more than chance. "
    "Where a campaign visited both beside each other at least 12 times, the 95 % interval of the ratio of these "
    "visits lies on one side of 1. Elsewhere their own 95 % intervals do not overlap; a time without an interval "
    "is taken as ±10 %. The default counts as the fastest where nothing is faster than it. Algorithms that make "
    "the same schedule, as a chain and a binary tree of two ranks do, have one time, of all their measurements."
)
"""The rule in words."""
Name = TypeVar("Name")


@dataclass(frozen=True)
class Time:
    """Seconds with the ends of their 95 % interval; `is_assumed`: nobody stated them, so they are ±`UNKNOWN`.

    `visits`: the times of single visits by launch, where a campaign has them.
    """

    time_s: float
    low_s: float
    high_s: float
    is_assumed: bool = False
    visits: ByLaunch = field(default_factory=dict)

    @classmethod
    def of(cls, time_s: float, low_s: float, high_s: float, visits: ByLaunch | None = None) -> Time:
        """The time with these ends, or with assumed ones where there are none (NaN)."""
        if math.isnan(low_s) or math.isnan(high_s):
            return cls(time_s, time_s * (1 - UNKNOWN), time_s * (1 + UNKNOWN), True, visits or {})
        return cls(time_s, min(low_s, time_s), max(high_s, time_s), False, visits or {})

    def is_faster(self, other: Time) -> bool:
        """Whether this is shorter than the other by the rule of `CRITERION`."""
        if self.visits and other.visits and (ratio := ratio_in_pairs(other.visits, self.visits)) is not None:
            apart, reach = ratio
            return apart > max(reach, math.log1p(TIE))
        return bool(are_faster(self.time_s, self.high_s, other.low_s, other.time_s))

    def hides(self, rival: Time) -> bool:
        """Whether a rival may be faster by a tenth, because an interval is wider than that to each side."""
        if self.visits and rival.visits and (paired := ratio_in_pairs(self.visits, rival.visits)) is not None:
            return paired[1] > math.log1p(UNKNOWN) and sum(paired) > math.log1p(UNKNOWN)
        is_wide = any(
            not time.is_assumed and time.high_s - time.low_s > 2 * UNKNOWN * time.time_s for time in (self, rival)
        )
        return is_wide and rival.low_s * (1 + UNKNOWN) < self.high_s

    def exact(self) -> Time:
        """The same without an interval."""
        return Time(self.time_s, self.time_s, self.time_s)

    def ratio(self, other: Time) -> tuple[float, float, float]:
        """How many times as long the other takes: its value and the least and the most it may be.

        Of visits beside each other these are the ends by which `is_faster` decides.
        """
        value = other.time_s / self.time_s
        if self.visits and other.visits and (paired := ratio_in_pairs(other.visits, self.visits)) is not None:
            apart, reach = paired
            return value, min(value, math.exp(apart - reach)), max(value, math.exp(apart + reach))
        return value, other.low_s / self.high_s, other.high_s / self.low_s


@dataclass(frozen=True)
class Fastest(Generic[Name]):
    """What is fastest of several, and the others that it is not faster than."""

    best: Name
    ties: tuple[Name, ...] = ()


def fastest(times: Mapping[Name, Time], default: Name | None = None, before: Name | None = None) -> Fastest[Name]:
    """The fastest of these, the one source of every answer that names it.

    With a `default` among them only what is faster than it comes before it; of those, and of all without one, the
    shortest median counts unless visits show another to be faster. `before`: what was fastest at the size before;
    it stays where nothing is faster and it takes at most `UNKNOWN` longer, so that noise names few algorithms.
    """
    ordered = sorted(times, key=lambda name: times[name].time_s)
    named = ordered
    if default is not None:
        named = [name for name in ordered if times[name].is_faster(times[default])] or [default]
    best = named[0]
    for name in named[1:]:
        if times[name].is_faster(times[best]):
            best = name
    if before in named and times[before].time_s <= times[best].time_s * (1 + UNKNOWN):
        best = best if times[best].is_faster(times[before]) else before
    ties = (name for name in ordered if name != best and not times[best].is_faster(times[name]))
    return Fastest(best, tuple(ties))


@dataclass(frozen=True)
class AlgorithmChoice:
    """One configuration, rank count and size: the `best` of so many `candidates`, and its `ties` (`fastest`).

    The library's own choice is among them: `default` is its name, None where it was not measured.
    """

    configuration: Configuration
    ranks: int
    bytes: int
    best: str
    best_s: float
    ties: tuple[str, ...]
    candidates: int
    default: str | None
    default_s: float | None
    reach: tuple[float, float] | None = None
    """The least and the most that the default may take over the best, by their intervals."""
    is_noisy: bool = False
    """Whether noise hides, where the default is the best, that another may be faster by a tenth."""

    @property
    def is_default_slower(self) -> bool:
        """Whether something is faster than the default."""
        return self.default is not None and self.default not in (self.best, *self.ties)

    @property
    def penalty(self) -> float | None:
        """Time of the default over that of the best; 1 where nothing is faster, None without a default."""
        if self.default_s is None:
            return None
        return self.default_s / self.best_s if self.is_default_slower else 1.0


def timed(points: pd.DataFrame, visits: Visits | None = None) -> list[Time]:
    """The time of each row; algorithms that make the same schedule have one, of all their measurements."""
    known = with_schedules_joined(points)
    ends = (known[name].tolist() for name in ("time_s", "low_s", "high_s"))
    return list(map(Time.of, *ends, _visited(points, visits) if visits else [{}] * len(points)))


def choices(points: pd.DataFrame, visits: Visits | None = None) -> list[AlgorithmChoice]:
    """One for each (configuration with nodes, ranks, size), in order; a single candidate is its own best.

    `points` as `points.points` makes them, and `visits` of them as `points.visits_of` does; ranks that are
    unknown are 0.
    """
    known = points.assign(ranks=points["ranks"].fillna(0).astype(int))
    times, labels = timed(points, visits), points["label"].tolist()
    is_default = (known["algorithm"] == DEFAULT).tolist()
    result: list[AlgorithmChoice] = []
    for configuration, rows in positions(known, (*PLACED, "ranks", "bytes")):
        of_row = {row: times[row] for row in rows.tolist()}
        default = min((row for row in of_row if is_default[row]), key=lambda row: times[row].time_s, default=None)
        last = result[-1] if result else None
        goes_on = last and last.configuration.held[:-1] == configuration.held[:-1]
        before = next((row for row in of_row if last and goes_on and labels[row] == last.best), None)
        found = fastest(of_row, default, before)
        rivals = [time for row, time in of_row.items() if row != default]
        result.append(
            AlgorithmChoice(
                configuration,
                int(configuration["ranks"]),
                int(configuration["bytes"]),
                labels[found.best],
                times[found.best].time_s,
                tuple(labels[row] for row in found.ties),
                len(of_row),
                None if default is None else labels[default],
                None if default is None else times[default].time_s,
                None if default in (None, found.best) else times[found.best].ratio(times[default])[1:],
                default == found.best and any(times[default].hides(rival) for rival in rivals),
            )
        )
    return result


def by_size(of_sizes: Sequence[AlgorithmChoice]) -> list[list[AlgorithmChoice]]:
    """The choices of one configuration and number of ranks by size, a list for each range with one best."""
    ordered = sorted(of_sizes, key=lambda choice: choice.bytes)
    return [list(members) for _, members in groupby(ordered, key=lambda choice: choice.best)]


def _visited(points: pd.DataFrame, visits: Visits) -> list[ByLaunch]:
    """The visits of each row; algorithms that make the same schedule there have the same ones."""
    visited = visits_at(points, visits)
    for rows in same_schedule(points):
        together = taken_together([visited[row] for row in rows])
        for row in rows:
            visited[row] = together
    return visited


@dataclass(frozen=True)
class Penalty:
    """How far the library's default is from the best, over many points: 1 where nothing is told to be faster."""

    points: int
    median: float
    p90: float
    worst: float
    within_10_percent: float


def penalty(chosen: list[AlgorithmChoice]) -> Penalty | None:
    """The penalty of the default over all choices; None where no default was measured."""
    ratios = np.array([choice.penalty for choice in chosen if choice.penalty is not None])
    if ratios.size == 0:
        return None
    return Penalty(
        int(ratios.size),
        float(np.median(ratios)),
        float(np.quantile(ratios, 0.9)),
        float(ratios.max()),
        float(np.mean(ratios <= 1.1)),
    )
