"""What the visits of points come to while a campaign runs, at the level of the machine that is asked for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from random import Random

from hockney.campaign.plan import Plan
from hockney.records.contents import Modes, find_modes
from hockney.records.keys import CollectiveKey, Key, key_of
from hockney.records.levels import Level
from hockney.records.record import Record, Wanted
from hockney.records.visits import (
    CHOICES,
    Choice,
    Levels,
    Ranks,
    Settled,
    Spread,
    at,
    by_launch,
    levels_of,
    ranks_of,
    ratio_in_pairs,
    settle,
    visit_times,
)
from hockney.units import grouped

LEAST_BUDGET_S = 0.02
"""Less time for a visit of a point yields no interval."""

MORE_REFERENCES = 1.05
"""Levels are looked for again when there are so many times the references."""
MORE_VISITED = 1.2
"""A series is settled as a whole again when it has so many times the visits."""
OFTEN = 0.1
"""Where all levels are asked for: those that hold this share of the time."""
DISAGREEMENT = 1.15
"""Ratio of the times of two visits of a point at one level above which they disagree."""

SHORTER_VISITS = 4
"""A point of a collective gets so many times the visits, each as much shorter, while its budget lasts.

Visits of one point differ by some percent, however many samples each has: many short ones say more than few long
ones.
"""
SHORTER_SAMPLES = 256
"""Of such a visit, at most: with four times as many its median is hardly nearer to that of other visits."""
DECIDED = 1.015
"""Half an interval, as a factor, with which two algorithms can be told apart, or called equal, within 5 %."""


@dataclass(frozen=True)
class Lacking:
    """Points that too few launches met at a level."""

    level: Choice
    points: Set[tuple[Key, int]]

    def of_launch(self, only: tuple[str, str] | None, alone: Set[tuple[str, str]]) -> Lacking:
        """What a launch measures of it, of the one algorithm `only` or of all that have no launch of their own.

        `alone`: algorithms, each with its operation, that have.
        """
        algorithms = {
            point: (point[0].operation, point[0].algorithm) if isinstance(point[0], CollectiveKey) else None
            for point in self.points
        }
        if only is not None:
            return replace(self, points={point for point in self.points if algorithms[point] == only})
        return replace(self, points={point for point in self.points if algorithms[point] not in alone})


def settled_times(records: Iterable[Record], wanted: Wanted) -> Settled:
    """What the visits of points come to at the level asked for, as all launches together tell the levels."""
    times = [record for record in records if record.statistic in ("one_way", "completion")]
    return settle(times, levels_of(times), CHOICES[wanted])


def lacking(records: Iterable[Record], wanted: Wanted, launches: int) -> Lacking:
    """What fewer launches than that met at the level asked for, because some met it at another.

    A launch that the machine spent at a single level knows no other: the levels are those of all launches. Where
    all levels are asked for, those that hold `OFTEN` of the time, it is the one that most points lack.
    """
    times = [record for record in records if record.statistic in ("one_way", "completion")]
    levels = levels_of(times)
    choices = [CHOICES[wanted]]
    if wanted == "all":
        choices = [_often(place) for place in range(max(map(len, levels.values()), default=1))]
    return max((Lacking(choice, _lack(times, levels, choice, launches)) for choice in choices), key=_count)


def _count(lacking: Lacking) -> int:
    return len(lacking.points)


def _often(place: int) -> Choice:
    """The level at that place, if it holds `OFTEN` of the time."""

    def choose(levels: Sequence[Level]) -> Level | None:
        level = at(place)(levels)
        return level if level is not None and level.share >= OFTEN else None

    return choose


def _lack(times: Sequence[Record], levels: Levels, choice: Choice, launches: int) -> set[tuple[Key, int]]:
    settled = settle(times, levels, choice)
    elsewhere = set(map(id, settled.elsewhere))
    met = Counter((key_of(record), record.bytes) for record in settled.records if id(record) not in elsewhere)
    missed = {
        (key_of(record), record.bytes)
        for record in (*settled.elsewhere, *settled.left_out)
        # Ranks that have no such level lack nothing of it, nor do those that have no other.
        if len(levels[ranks_of(record)]) > 1 and choice(levels[ranks_of(record)]) is not None
    }
    return {point for point in missed if met[point] < launches}


def are_shorter(key: Key, plan: Plan) -> bool:
    """Whether points of that series get more visits, each of them shorter."""
    return isinstance(key, CollectiveKey) and plan.visits > 1


def visits_of(key: Key, plan: Plan) -> int:
    """How many visits a point of that series is to have, as long as its budget lasts."""
    return plan.visits * (SHORTER_VISITS if are_shorter(key, plan) else 1)


def samples_asked(key: Key, plan: Plan) -> dict[str, int]:
    """How many samples a visit is to have, as the runner's request says it; without a most, the runner's own."""
    least = plan.least_samples
    shorter = {"most_samples": max(SHORTER_SAMPLES, least)} if are_shorter(key, plan) else {}
    return {"least_samples": least, **shorter}


def problem_of(key: Key) -> Key:
    """What algorithms that are compared have in common; of two ranks the series itself."""
    return replace(key, algorithm="", segment_B=0, radix=0) if isinstance(key, CollectiveKey) else key


def next_round(
    points: Iterable[tuple[Key, int]],
    visits: Mapping[tuple[Key, int], int],
    undecided: Set[tuple[Key, int]],
    lot: Random,
) -> list[tuple[Key, int]]:
    """Of the points that are to be visited again those with the fewest visits, in random order, but in blocks.

    What is compared lies together: the algorithms for one problem and size, among which the `undecided` go on
    whatever the number of their visits. About half of what differs between visits lasts for some tenths of a
    second, or for the launch, and is the same for all that are visited meanwhile.
    """
    blocks = grouped(points, lambda point: (problem_of(point[0]), point[1]))
    fewest = min((visits[point] for block in blocks.values() for point in block), default=0)
    order = []
    for block in blocks.values():
        if any(visits[point] == fewest for point in block):
            order.append([point for point in block if visits[point] == fewest or point in undecided])
            lot.shuffle(order[-1])
    lot.shuffle(order)
    return [point for block in order for point in block]


def undecided(so_far: VisitsSoFar) -> set[tuple[Key, int]]:
    """Points of collectives that may be the fastest algorithm's, and are not known well enough to tell.

    Their intervals reach that of the fastest of the same problem, and the ratio of both, in pairs of visits, is
    neither far from 1 nor known to within `DECIDED` each. The fastest is one of them, unless it is known.
    """
    problems: dict[tuple[Key, int], list[tuple[Key, Record]]] = {}
    for key, sizes in so_far.done.items():
        if isinstance(key, CollectiveKey):
            for size_B, record in sizes.items():
                problems.setdefault((problem_of(key), size_B), []).append((key, record))
    found: set[tuple[Key, int]] = set()
    for (_, size_B), algorithms in problems.items():
        fastest, best = min(algorithms, key=lambda algorithm: algorithm[1].value)
        near = [key for key, record in algorithms if interval(record)[0] <= interval(best)[1] and key != fastest]
        open_ = [(key, size_B) for key in near if not _is_told(so_far, size_B, key, fastest)]
        found.update([*open_, (fastest, size_B)] if open_ else ())
    return found


def _is_told(so_far: VisitsSoFar, size_B: int, one: Key, other: Key) -> bool:
    """Whether it is known which of two algorithms is the faster, or that they are equal within 5 %."""
    visits = [so_far.by_launch(key, size_B) for key in (one, other)]
    if visits[0].keys() & visits[1].keys():
        ratio = ratio_in_pairs(*visits)
    else:
        ratio = _ratio_of_intervals(*(interval(so_far.done[key][size_B]) for key in (one, other)))
    if ratio is None:
        return False
    apart, reach = ratio
    return abs(apart) > 2 * reach or reach <= math.sqrt(2) * math.log(DECIDED)


def _ratio_of_intervals(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float] | None:
    """The same as `ratio_in_pairs` of times from launches of their own; None where an interval reaches 0."""
    if min(*one, *other) <= 0:
        return None
    half = math.hypot(math.log(one[1] / one[0]), math.log(other[1] / other[0])) / 2
    return math.log(one[0] * one[1] / (other[0] * other[1])) / 2, half


def interval(record: Record) -> tuple[float, float]:
    """Low and high; the value itself where there is none."""
    low, high = (record.value if bound is None else bound for bound in (record.low, record.high))
    return low, high


def half_width(record: Record) -> float:
    """Of the interval."""
    low, high = interval(record)
    return (high - low) / 2


class VisitsSoFar:
    """The visits of one launch index and variant that gave a time; `wanted`: the level asked for.

    `done`: what the visits of each point come to. `levels`: the machine's, as the references tell them so far.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.done: dict[Key, dict[int, Record]] = {}
        self.levels: dict[Ranks, list[Level]] = {}
        self._counts_all = wanted == "all"
        self._choice: Choice = CHOICES[wanted]
        self._others: list[Record] = []
        self._in_order: list[Record] = []
        self._visits: dict[Key, dict[int, list[Record]]] = {}
        self._references = 0
        self._references_known = 0  # of which `levels` was found
        self._spreads: dict[Ranks, Spread] = {}
        self._settled_at: dict[Key, int] = {}  # how many visits a series had when it was settled as a whole
        # The time of each visit, by its identity, at the level asked for; none where it was at another.
        self._times_s: dict[int, list[float]] = {}

    def keep_to(self, level: Choice, others: Iterable[Record]) -> None:
        """Let visits count at that level only; those of other launches help to tell the levels."""
        self._choice, self._counts_all = level, False
        own = set(map(id, self._in_order))
        self._others = [record for record in others if id(record) not in own]
        self._references += sum(len(record.reference_s) for record in self._others)
        self._look_for_levels()

    def add(self, record: Record) -> None:
        """Enter a visit of a point: what its visits come to at the level asked for is its time."""
        key = key_of(record)
        self._visits.setdefault(key, {}).setdefault(record.bytes, []).append(record)
        self._in_order.append(record)
        self._references += len(record.reference_s)
        if self._references >= MORE_REFERENCES * self._references_known:
            self._look_for_levels()
        self._settle(key, record.bytes)

    def counting(self, key: Key, size_B: int) -> int:
        """How many visits of a point count: those that met the level asked for, or of all levels the rarest."""
        visits = self._of(key, size_B)
        met = len(self.met_s(key, size_B))
        if self._counts_all and visits:
            levels = self.levels.get(ranks_of(visits[0]), ())
            often = [choice for choice in map(_often, range(len(levels))) if choice(levels) is not None]
            return min((len(visit_times(visits, self.levels, to)) for to in often), default=met)
        return met

    def met_s(self, key: Key, size_B: int) -> list[float]:
        """Times of visits that met the level asked for, or, where levels are all asked for, the common one."""
        return [time_s for visit in self._of(key, size_B) for time_s in self._time_s(visit)]

    def by_launch(self, key: Key, size_B: int) -> dict[str, list[float]]:
        """The same, as `ratio_in_pairs` takes them."""
        visits = self._of(key, size_B)
        return by_launch((visit.launch, time_s) for visit in visits for time_s in self._time_s(visit))

    def _time_s(self, visit: Record) -> list[float]:
        """The time of a visit that met the level."""
        if id(visit) not in self._times_s:
            self._times_s[id(visit)] = visit_times([visit], self.levels, self._choice)
        return self._times_s[id(visit)]

    def spent_s(self, key: Key, size_B: int) -> float:
        """How long all visits of a point took together."""
        return sum(visit.elapsed_s or 0.0 for visit in self._of(key, size_B))

    def disagree(self, key: Key, size_B: int) -> bool:
        """Whether visits at the level asked for differ, so that their median is not to be trusted."""
        times_s = self.met_s(key, size_B)
        return len(times_s) > 1 and max(times_s) > DISAGREEMENT * min(times_s)

    def modes(self) -> list[Modes]:
        """Two modes of times at the level asked for, where the references do not tell them."""
        return find_modes(self._in_order, self.levels, self._choice)

    def _of(self, key: Key, size_B: int) -> list[Record]:
        return self._visits.get(key, {}).get(size_B, [])

    def _look_for_levels(self) -> None:
        """Find the levels anew; where the one asked for has moved, all series are settled again."""
        before, self.levels = self.levels, levels_of([*self._others, *self._in_order])
        self._references_known = self._references
        self._times_s.clear()
        pairs = [(self._choice(before[of]), self._choice(now)) for of, now in self.levels.items() if of in before]
        if any(was is not None and now is not None and not was.holds(now.reference_s) for was, now in pairs):
            self._settled_at.clear()
            for series, of_series in self._visits.items():
                self._settle(series, next(iter(of_series)))

    def _settle(self, key: Key, size_B: int) -> None:
        """How visits differ is told by all points of a series, which are settled now and then as a whole."""
        of_series = self._visits[key]
        count = sum(map(len, of_series.values()))
        if count < MORE_VISITED * self._settled_at.get(key, 0):
            settled = settle(of_series[size_B], self.levels, self._choice, self._spreads)
        else:
            visits = [visit for of_size in of_series.values() for visit in of_size]
            settled = settle(visits, self.levels, self._choice)
            self._spreads |= settled.spreads
            self._settled_at[key] = count
        self.done.setdefault(key, {}).update({record.bytes: record for record in settled.records})
