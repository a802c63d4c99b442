"""Whether campaigns of collectives choose the same algorithms, and a loaded one marks what it got wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from bench.repeatability.bars import Bar
from bench.repeatability.messages import common_level

from hockney.machine.measured import ELSEWHERE
from hockney.records.visits import ByLaunch, ratio_in_pairs, taken_together
from hockney.statistics import pooled

EQUAL = 1.05
"""Two algorithms are called equal if the 95 % interval of their ratio lies within this factor of 1."""
FAR = 0.15
"""Share of a quiet time beyond which a point of the loaded campaign needs a mark."""

LEAST_COMPARED, LEAST_AGREE, MOST_UNTOLD = 0.80, 0.95, 0.20

Cell = tuple[str, int]
"""Operation and size in bytes."""
Call = Literal["equal", "differs", "cannot be told"]
Outcome = Literal["same winner", "equal", "differs", "cannot be told"]


@dataclass(frozen=True)
class CollectiveTime:
    """The time of an algorithm in a cell, its 95 % interval (None: unknown), and the marks that warn of it.

    Algorithms with the same `schedule` do the same there; None: not known. `visits`: those at the level, beside
    those of the cell's other algorithms.
    """

    time_s: float
    low_s: float | None
    high_s: float | None
    marks: frozenset[str] = frozenset()
    schedule: int | None = None
    visits: ByLaunch = field(default_factory=dict)


Times = Mapping[Cell, Mapping[str, CollectiveTime]]
"""A campaign of collectives: the times of the algorithms in each cell."""


@dataclass(frozen=True)
class TimesAtLevel:
    """What a campaign of collectives measured at one of its levels; without references it has one, None.

    Points that were met at other levels alone are marked `ELSEWHERE`, or absent.
    """

    reference_s: float | None
    share: float
    times: Times


@dataclass(frozen=True)
class Winners:
    """How the winners of two campaigns compare: the number of cells by outcome, and cells that only one has."""

    a: str
    b: str
    outcomes: Mapping[Outcome, int]
    only_in_one: int

    @property
    def cells(self) -> int:
        """Cells that both have."""
        return sum(self.outcomes.values())

    def share(self, *outcomes: Outcome) -> float:
        """Share of the cells that came out so; NaN without a cell."""
        return sum(self.outcomes.get(outcome, 0) for outcome in outcomes) / self.cells if self.cells else math.nan


@dataclass(frozen=True)
class Far:
    """A point of the loaded campaign that is too far from the quiet ones; `ratio` to the nearest of them."""

    cell: Cell
    algorithm: str
    ratio: float
    marks: frozenset[str]


def call(rival: CollectiveTime, winner: CollectiveTime) -> Call:
    """What a campaign says of two of its algorithms: from visits in pairs, or from intervals of their own."""
    if (ratio := ratio_in_pairs(rival.visits, winner.visits)) is not None:
        return _call(*ratio)
    if not (rival.low_s and rival.high_s and winner.low_s and winner.high_s):
        return "cannot be told"
    log_ratio = math.log(rival.time_s / winner.time_s)
    half = math.hypot(math.log(rival.high_s / rival.low_s) / 2, math.log(winner.high_s / winner.low_s) / 2)
    return _call(log_ratio, half)


def _call(log_ratio: float, half: float) -> Call:
    if abs(log_ratio) + half <= math.log(EQUAL):
        return "equal"
    return "differs" if abs(log_ratio) > half else "cannot be told"


def outcome(a: Mapping[str, CollectiveTime], b: Mapping[str, CollectiveTime]) -> Outcome:
    """How the winners of one cell compare in two campaigns, among the algorithms that both measured.

    Different winners are equal if both campaigns call them so, or if they make the same schedule, as a chain and
    a binary tree of two ranks do; they cannot be told apart if one of them says that.
    """
    both = [name for name in a if name in b]
    winner_a, winner_b = (min(both, key=lambda name: times[name].time_s) for times in (a, b))
    if winner_a == winner_b:
        return "same winner"
    if a[winner_a].schedule is not None and a[winner_a].schedule == a[winner_b].schedule:
        return "equal"
    calls = {call(a[winner_b], a[winner_a]), call(b[winner_a], b[winner_b])}
    if calls == {"equal"}:
        return "equal"
    return "cannot be told" if "cannot be told" in calls else "differs"


def winners(names: tuple[str, str], a: Times, b: Times) -> Winners:
    """The winners of two campaigns in all cells in which both measured the same algorithm at the level."""
    a, b = (_joined(_met(times)) for times in (a, b))
    both = [cell for cell in a if a[cell].keys() & b.get(cell, {}).keys()]
    counts = Counter(outcome(a[cell], b[cell]) for cell in both)
    return Winners(*names, dict(counts), len(a.keys() | b.keys()) - len(both))


def _met(times: Times) -> Times:
    """Without the points that were met at another level alone, and cells that have no others."""
    met = {
        cell: {name: time for name, time in algorithms.items() if ELSEWHERE not in time.marks}
        for cell, algorithms in times.items()
    }
    return {cell: algorithms for cell, algorithms in met.items() if algorithms}


def _joined(times: Times) -> Times:
    """As `models.over_ranks` has it: algorithms that make the same schedule have one time, of all of them."""
    return {cell: _one_time_each(algorithms) for cell, algorithms in times.items()}


def _one_time_each(algorithms: Mapping[str, CollectiveTime]) -> Mapping[str, CollectiveTime]:
    alike: dict[int, list[str]] = {}
    for name, time in algorithms.items():
        if time.schedule is not None and time.low_s and time.high_s and 0 < time.low_s < time.high_s:
            alike.setdefault(time.schedule, []).append(name)
    result = dict(algorithms)
    for names in alike.values():
        known = np.array(
            [[algorithms[name].time_s, algorithms[name].low_s, algorithms[name].high_s] for name in names]
        )
        one = pooled(*known.T.astype(np.float64))
        visits = taken_together([algorithms[name].visits for name in names])
        result |= {
            name: CollectiveTime(*one, algorithms[name].marks, algorithms[name].schedule, visits)
            for name in names
        }
    return result


def far_points(quiet: Sequence[Times], loaded: Times) -> list[Far]:
    """The points of the loaded campaign that lie more than `FAR` outside what the quiet ones measured."""
    points = []
    for cell, algorithms in loaded.items():
        for name, point in algorithms.items():
            quiet_s = [times[cell][name].time_s for times in quiet if name in times.get(cell, {})]
            if not quiet_s:
                continue
            nearest_s = min(max(point.time_s, min(quiet_s)), max(quiet_s))
            if abs(point.time_s / nearest_s - 1) > FAR:
                points.append(Far(cell, name, point.time_s / nearest_s, point.marks))
    return points


def far_at_common_level(
    loaded: Sequence[TimesAtLevel], quiet: Sequence[Sequence[TimesAtLevel]]
) -> tuple[list[Far], float]:
    """`far_points` at the level of the loaded campaign that most of the quiet ones had, of these the longest.

    With the share of the loaded campaign's points that this compares: at its own level, the first, it has all.
    """
    found = []
    for there in loaded:
        shared = [pair for levels in quiet if (pair := common_level([there], levels)) is not None]
        found.append((len(shared), there.share, [other.times for _, other in shared], there.times))
    count, _, others, times = max(found, key=lambda one: one[:2])
    if not count:
        return [], 0.0
    compared = sum(any(name in each.get(cell, {}) for each in others) for cell, name in _points(times))
    return far_points(others, times), compared / max(1, len(_points(loaded[0].times)))


def _points(times: Times) -> list[tuple[Cell, str]]:
    return [(cell, name) for cell, algorithms in times.items() for name in algorithms]


def verdict(pairs: Sequence[Winners], far: Sequence[Far], far_compared: float = 1.0) -> list[Bar]:
    """The bars: winners in the worst pair of campaigns, far points without a mark, and how much is compared."""
    agree = [pair.share("same winner", "equal") if pair.cells else 0.0 for pair in pairs]
    untold = [pair.share("cannot be told") if pair.cells else 1.0 for pair in pairs]
    unmarked = sum(not point.marks for point in far)
    cells = [pair.cells / max(1, pair.cells + pair.only_in_one) for pair in pairs]
    return [
        Bar.least("cells whose winners agree or are equal, worst pair", min(agree, default=0.0), LEAST_AGREE),
        Bar.most("cells that cannot be told, worst pair", max(untold, default=1.0), MOST_UNTOLD),
        Bar.most(f"loaded points {FAR:.0%} off without a mark", float(unmarked), 0.0, is_count=True),
        Bar.least("cells compared, worst pair", min(cells, default=0.0), LEAST_COMPARED),
        Bar.least("loaded points compared", far_compared, LEAST_COMPARED),
    ]


def compared(campaigns: Mapping[str, Sequence[TimesAtLevel]]) -> list[Winners]:
    """Every pair of campaigns, by their names, at the level that both have; without one no cell is compared."""
    pairs = []
    for a, b in combinations(campaigns, 2):
        if shared := common_level(campaigns[a], campaigns[b]):
            pairs.append(winners((a, b), *(one.times for one in shared)))
        else:
            cells = campaigns[a][0].times.keys() | campaigns[b][0].times.keys()
            pairs.append(Winners(a, b, {}, len(cells)))
    return pairs
