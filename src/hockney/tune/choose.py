"""From cells to rules: the fastest algorithm of each cell, and neighbouring cells with the same one as one rule.

A rule is for the cells in which a page calls its algorithm the fastest (`models.over_ranks.choice.fastest`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from hockney.models.over_ranks.choice import Time
from hockney.tune.cells import CallTimes
from hockney.tune.rules import Method, Rule, joined


@dataclass(frozen=True)
class Decision:
    """A cell, and what a rule says of it (None: the default stays)."""

    cell: CallTimes
    algorithm: Method | None

    @property
    def time(self) -> Time:
        """Of what is taken."""
        return self.cell.default if self.algorithm is None else self.cell.others[self.algorithm]

    @property
    def gain(self) -> tuple[float, float, float]:
        """How many times as long the default takes, with the ends of its interval; 1 where it stays."""
        return (1.0, 1.0, 1.0) if self.algorithm is None else self.time.ratio(self.cell.default)

    @property
    def is_assumed(self) -> bool:
        """Whether an interval that the gain rests on was assumed."""
        return self.algorithm is not None and (self.time.is_assumed or self.cell.default.is_assumed)


@dataclass(frozen=True)
class ChosenRules:
    """Rules, and how each cell came off."""

    rules: list[Rule]
    decisions: list[Decision]


def choose(cells: Sequence[CallTimes]) -> ChosenRules:
    """Rules for the cells; ranks and sizes beyond them, and ranks between them, are left to the default.

    Between two sizes the boundary is their geometric mean.
    """
    rules: list[Rule] = []
    decisions: list[Decision] = []
    ordered = sorted(cells, key=lambda cell: (cell.operation, cell.ranks, cell.bytes))
    for (operation, ranks), group in groupby(ordered, key=lambda cell: (cell.operation, cell.ranks)):
        row: list[Decision] = []
        for cell in group:
            row.append(Decision(cell, cell.fastest(row[-1].algorithm if row else None)))
        decisions += row
        for algorithm, run in groupby(row, key=lambda one: one.algorithm):
            there = [decision.cell for decision in run]
            if algorithm is not None:
                least, most = span(there[0], ordered)[0], span(there[-1], ordered)[1]
                rules.append(Rule(operation, ranks, ranks, least, most, *algorithm))
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
            method
            for method in common
            if any(method in cell.faster() for cell in row)
            and not any(cell.default.is_faster(cell.others[method]) for cell in row)
        ]
        taken = min(fit, key=lambda one: sum(math.log(cell.others[one].time_s) for cell in row), default=None)
        decisions += [Decision(cell, taken) for cell in row]
        if taken is not None:
            rules.append(Rule(operation, 1, None, 0, None, *taken))
    return ChosenRules(rules, decisions)


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
