"""From cells to rules: the algorithm of each cell, neighbouring cells as one rule, and what that costs.

A rule is only for cells in which its algorithm is faster than the default beyond both intervals. Of those an
algorithm counts by the upper end of its interval: the smallest of many medians would be the luckiest one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from hockney.tune.cells import CallTimes, Time
from hockney.tune.rules import Method, Rule, joined

WORTH = 0.02
"""Logarithm of the ratio of times, summed over its cells, that one rule more must bring."""


@dataclass(frozen=True)
class Decision:
    """A cell, what a rule says of it (None: the default stays), and the best that could be said."""

    cell: CallTimes
    algorithm: Method | None
    best: Method | None

    @property
    def time(self) -> Time:
        """Of what is taken."""
        return self.cell.default if self.algorithm is None else self.cell.others[self.algorithm]

    @property
    def gain(self) -> tuple[float, float, float]:
        """How many times as long the default takes, with the ends of its interval; 1 where it stays."""
        return (1.0, 1.0, 1.0) if self.algorithm is None else self.time.ratio(self.cell.default)

    @property
    def regret(self) -> float:
        """By what share it takes longer than the best that could be said: what merging costs here."""
        best = self.cell.default if self.best is None else self.cell.others[self.best]
        return max(0.0, self.time.time_s / best.time_s - 1)


@dataclass(frozen=True)
class ChosenRules:
    """Rules, and how each cell came off."""

    rules: list[Rule]
    decisions: list[Decision]

    @property
    def regrets(self) -> tuple[float, float]:
        """What merging costs, in the mean over the cells and at most; 0 without cells."""
        regrets = [decision.regret for decision in self.decisions]
        return (sum(regrets) / len(regrets), max(regrets)) if regrets else (0.0, 0.0)


def choose(cells: Sequence[CallTimes], *, worth: float = WORTH) -> ChosenRules:
    """Rules for the cells; ranks and sizes beyond them, and ranks between them, are left to the default.

    Between two sizes the boundary is their geometric mean. `worth`: what one rule more must bring (`WORTH`); 0
    merges what costs nothing alone.
    """
    rules: list[Rule] = []
    decisions: list[Decision] = []
    ordered = sorted(cells, key=lambda cell: (cell.operation, cell.ranks, cell.bytes))
    for (operation, ranks), group in groupby(ordered, key=lambda cell: (cell.operation, cell.ranks)):
        row = list(group)
        taken = _partition(row, worth)
        decisions += [Decision(cell, one, _best(cell)) for cell, one in zip(row, taken, strict=True)]
        place = 0
        for algorithm, run in groupby(taken):
            count = len(list(run))
            if algorithm is not None:
                least, most = span(row[place], row)[0], span(row[place + count - 1], row)[1]
                rules.append(Rule(operation, ranks, ranks, least, most, algorithm))
            place += count
    return ChosenRules(joined(rules), decisions)


def choose_whole(cells: Sequence[CallTimes]) -> ChosenRules:
    """One algorithm for all ranks and sizes of an operation, for targets that know no bounds.

    It must be faster than the default beyond the intervals somewhere, and slower than it nowhere.
    """
    rules: list[Rule] = []
    decisions: list[Decision] = []
    ordered = sorted(cells, key=lambda cell: cell.operation)
    for operation, group in groupby(ordered, key=lambda cell: cell.operation):
        row = list(group)
        common = set.intersection(*(set(cell.others) for cell in row))
        fit = [
            one
            for one in common
            if any(one in cell.faster() for cell in row)
            and not any(cell.default.is_beyond(cell.others[one]) for cell in row)
        ]
        taken = min(fit, key=lambda one: sum(math.log(cell.others[one].time_s) for cell in row), default=None)
        decisions += [Decision(cell, taken, _best(cell)) for cell in row]
        if taken is not None:
            rules.append(Rule(operation, 1, None, 0, None, taken))
    return ChosenRules(rules, decisions)


def _best(cell: CallTimes) -> Method | None:
    faster = cell.faster()
    return min(faster, key=lambda one: (faster[one].high_s, str(one)), default=None)


def _partition(row: Sequence[CallTimes], worth: float) -> list[Method | None]:
    """What is taken in each cell: the least sum of costs, and of `worth` for each change."""
    options: list[Method | None] = [None, *sorted({name for cell in row for name in cell.faster()}, key=str)]
    # What it costs to end with each option, and what was taken on the way there.
    cheapest: dict[Method | None, tuple[float, list[Method | None]]] = {name: (0.0, []) for name in options}
    for number, cell in enumerate(row):
        best = _best(cell)
        allowed_s: dict[Method | None, float] = {None: cell.default.high_s}
        for faster, time in cell.faster().items():
            allowed_s[faster] = time.high_s
        cost, taken = min(cheapest.values(), key=itemgetter(0))
        changed = cost + (worth if number else 0.0), taken
        ended = {name: min(cheapest[name], changed, key=itemgetter(0)) for name in options}
        own = {name: math.log(high_s / allowed_s[best]) for name, high_s in allowed_s.items()}
        cheapest = {name: (ended[name][0] + own.get(name, math.inf), [*ended[name][1], name]) for name in options}
    return min(cheapest.values(), key=itemgetter(0))[1]


def span(cell: CallTimes, cells: Iterable[CallTimes]) -> tuple[int, int]:
    """Bytes from which and up to which a cell stands for its neighbourhood: to half way to the next ones."""
    sizes = {one.bytes for one in cells if (one.operation, one.ranks) == (cell.operation, cell.ranks)}
    smaller = max((size for size in sizes if size < cell.bytes), default=None)
    larger = min((size for size in sizes if size > cell.bytes), default=None)
    least = cell.bytes if smaller is None else _between(smaller, cell.bytes) + 1
    return least, cell.bytes if larger is None else _between(cell.bytes, larger)


def _between(smaller_B: int, larger_B: int) -> int:
    """The geometric mean, below the larger size."""
    return min(max(math.isqrt(smaller_B * larger_B), smaller_B), larger_B - 1)
