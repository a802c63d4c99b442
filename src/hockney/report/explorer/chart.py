"""What a figure shows, described once: the page's script draws it for every choice, matplotlib for print.

A `View` says which of the measured points a figure takes and what it draws against what; a `Choice` fills in what
a reader chose. `chart` and the function of that name in `explorer.js` apply both to the same points;
`tests/report/explorer` compares their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

DIMENSIONS = ("campaign", "library", "placement", "variant", "algorithm")
"""What tells points apart beside operation, ranks and size; one of them tells the lines of a figure apart."""
PENALTIES = (1.0, 1.1, 1.25, 1.5, 2.0)
"""Upper ends of the classes of a penalty; the last class is open."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """One figure of any choice: lines against `x`, or a map of size × ranks."""

    name: str
    title: str
    kind: Literal["lines", "map"]
    y: Literal["time", "rate", "best", "penalty"]
    x: Literal["bytes", "ranks"] = "bytes"


FASTEST = View("fastest", "Fastest algorithm", "map", "best")
PENALTY = View("penalty", "Time of the default over the fastest", "map", "penalty")
AGAINST_SIZE = View("time-against-size", "Time against size", "lines", "time")
AGAINST_RANKS = View("time-against-ranks", "Time against ranks", "lines", "time", "ranks")
RATE = View("rate-against-size", "Size over time against size", "lines", "rate")
VIEWS = (FASTEST, PENALTY, AGAINST_SIZE, AGAINST_RANKS, RATE)
"""In the order of the page."""


@dataclass(frozen=True)
class Choice:
    """An operation, ranks, a size and a value of each dimension to look at; those of `by` are compared."""

    operation: str
    by: str
    ranks: int
    bytes: int
    held: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "operation": self.operation,
            "by": self.by,
            "ranks": self.ranks,
            "bytes": self.bytes,
            "held": dict(self.held),
        }


@dataclass(frozen=True)
class Line:
    """Values in seconds or B/s at sizes or ranks `x`, ascending, with the ends of their intervals; NaN: none."""

    label: str
    x: Array
    y: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Cell:
    """The fastest at one size and number of ranks; `penalty` of the default: 1 where they are not told apart.

    `is_default`: the fastest is the default, which may have a segment or a radix in its name.
    """

    bytes: int
    ranks: int
    best: str
    best_s: float
    ties: int
    penalty: float | None
    is_default: bool = False


@dataclass(frozen=True)
class Chart:
    """One figure with its numbers."""

    view: View
    lines: list[Line] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)


@dataclass(frozen=True)
class Explored:
    """All that can be looked at, in seconds and bytes.

    `points`: `operation`, `DIMENSIONS`, `ranks` (0: unknown), `bytes`, `time_s`, `low_s`, `high_s` (NaN: no
    interval), `repeats` (of how many values without an interval low and high are the range; 0: they are a 95 %
    interval), `streams` (messages under way at once, all pairs and directions) and `origin` (where they came
    from). `cells`: `operation`, `DIMENSIONS` but the algorithm, and the fields of `Cell`. `first`: the choice
    that each operation begins with.
    """

    points: pd.DataFrame
    cells: pd.DataFrame
    first: Mapping[str, Choice]


def chart(view: View, choice: Choice, explored: Explored) -> Chart:
    """The figure of a choice."""
    if view.kind == "map":
        cells = _held(explored.cells, choice, but="algorithm")
        names = ["bytes", "ranks", "best", "best_s", "ties", "penalty", "is_default"]
        return Chart(view, cells=[_cell(row) for row in cells[names].itertuples(index=False)])
    other = "ranks" if view.x == "bytes" else "bytes"
    points = _held(explored.points, choice, but=choice.by)
    points = points[points[other] == getattr(choice, other)]
    return Chart(view, lines_of(points, view, choice.by))


def lines_of(points: pd.DataFrame, view: View, by: str) -> list[Line]:
    """A line for each value of the column `by`, in the order of the values."""
    return [_line(str(label), rows.sort_values(view.x), view) for label, rows in points.groupby(by, sort=True)]


def _line(label: str, rows: pd.DataFrame, view: View) -> Line:
    x = rows[view.x].to_numpy(np.float64)
    time_s, low_s, high_s = (rows[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    if view.y == "time":
        return Line(label, x, time_s, low_s, high_s)
    size_B = rows["streams"].to_numpy(np.float64) * rows["bytes"].to_numpy(np.float64)
    return Line(label, x, size_B / time_s, size_B / high_s, size_B / low_s)


def _held(rows: pd.DataFrame, choice: Choice, but: str) -> pd.DataFrame:
    keep = (rows["operation"] == choice.operation).to_numpy()
    for name in DIMENSIONS:
        if name != but and name in rows.columns and name in choice.held:
            keep = keep & (rows[name] == choice.held[name]).to_numpy()
    return rows[keep]


def _cell(row: Any) -> Cell:
    penalty = None if np.isnan(row.penalty) else float(row.penalty)
    return Cell(
        int(row.bytes),
        int(row.ranks),
        str(row.best),
        float(row.best_s),
        int(row.ties),
        penalty,
        bool(row.is_default),
    )
