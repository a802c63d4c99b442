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
    """One figure of any choice: lines against `x`, a map of size × ranks, or the models of the one held curve."""

    name: str
    title: str
    kind: Literal["lines", "map", "models"]
    y: Literal["time", "rate", "network", "best", "penalty", "ratio"]
    x: Literal["bytes", "ranks"] = "bytes"


FASTEST = View("fastest", "Fastest algorithm", "map", "best")
PENALTY = View("penalty", "Time of the default over the fastest", "map", "penalty")
AGAINST_SIZE = View("time-against-size", "Time against size", "lines", "time")
AGAINST_RANKS = View("time-against-ranks", "Time against ranks", "lines", "time", "ranks")
RATE = View("rate-against-size", "Size over time against size", "lines", "rate")
NETWORK = View("network-rate-against-size", "All bytes that must move over time", "lines", "network")
MODELS = View("models-against-size", "Measured and modelled", "models", "time")
MISSED = View("models-over-measured", "Modelled over measured time", "models", "ratio")
VIEWS = (FASTEST, PENALTY, AGAINST_SIZE, AGAINST_RANKS, RATE, NETWORK, MODELS, MISSED)
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
    interval), `streams` (by which bytes are multiplied for a rate: the messages under way at once, all pairs and
    directions, or the blocks of a vector), `moved` (the same for all that a collective must move, 0: none) and
    `origin` (where they came from). `cells`: `operation`, `DIMENSIONS` but the algorithm, and the fields of
    `Cell`. `first`: the choice that each operation begins with. `regimes`: `operation`, `DIMENSIONS`, `ranks` and
    the columns of `model_lines`.
    """

    points: pd.DataFrame
    cells: pd.DataFrame
    first: Mapping[str, Choice]
    regimes: pd.DataFrame = field(default_factory=pd.DataFrame)


def chart(view: View, choice: Choice, explored: Explored) -> Chart:
    """The figure of a choice."""
    if view.kind == "map":
        cells = _held(explored.cells, choice, but="algorithm")
        names = ["bytes", "ranks", "best", "best_s", "ties", "penalty", "is_default"]
        return Chart(view, cells=[_cell(row) for row in cells[names].itertuples(index=False)])
    other = "ranks" if view.x == "bytes" else "bytes"
    points = _held(explored.points, choice, but=choice.by if view.kind == "lines" else "")
    points = points[points[other] == getattr(choice, other)]
    if view.kind == "lines":
        return Chart(view, lines_of(points, view, choice.by))
    regimes = explored.regimes
    if len(regimes):
        regimes = _held(regimes, choice, but="")
        regimes = regimes[regimes["ranks"] == choice.ranks]
    return Chart(view, model_lines(points, regimes, view) if len(points) and len(regimes) else [])


def lines_of(points: pd.DataFrame, view: View, by: str) -> list[Line]:
    """A line for each value of the column `by`, in the order of the values."""
    return [_line(str(label), rows.sort_values(view.x), view) for label, rows in points.groupby(by, sort=True)]


def _line(label: str, rows: pd.DataFrame, view: View) -> Line:
    x = rows[view.x].to_numpy(np.float64)
    time_s, low_s, high_s = (rows[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    if view.y == "time":
        return Line(label, x, time_s, low_s, high_s)
    times = rows["streams" if view.y == "rate" else "moved"].to_numpy(np.float64)
    size_B = times * rows["bytes"].to_numpy(np.float64)
    return Line(label, x, size_B / time_s, size_B / high_s, size_B / low_s)


def model_lines(points: pd.DataFrame, regimes: pd.DataFrame, view: View) -> list[Line]:
    """The models of one curve at its sizes, over the measured time; or their times, a line for each regime.

    `regimes`: `model`, `min_B`, `max_B` (inf: no end), `alpha_s` and `beta_s_per_B`, in the order of sizes. A
    model's time at 0 B is a line of one point. A model may give a negative time.
    """
    rows = points.sort_values("bytes")
    size_B, time_s = (rows[name].to_numpy(np.float64) for name in ("bytes", "time_s"))
    lines = []
    for model, own in regimes.groupby("model", sort=False):
        low_B, high_B, alpha_s, beta = (own[name].to_numpy(np.float64) for name in REGIME)
        if view.y == "ratio":
            place = np.searchsorted(high_B, size_B, side="left")
            lines.append(_bare(str(model), size_B, (alpha_s[place] + beta[place] * size_B) / time_s))
            continue
        if size_B[0] == 0 and low_B[0] == 0:
            lines.append(_bare(str(model), np.zeros(1), alpha_s[:1]))
        positive = size_B[size_B > 0]
        for low, high, start, slope in zip(low_B, high_B, alpha_s, beta, strict=True):
            if positive.size and (first := max(low, positive[0])) <= (last := min(high, positive[-1])):
                x = np.geomspace(first, last, int(POINTS_A_DOUBLING * np.log2(last / first)) + 2)
                lines.append(_bare(str(model), x, start + slope * x))
    return lines


ENDS = ("min_B", "max_B")
REGIME = dict.fromkeys(ENDS, 1.0) | {"alpha_s": 1e6, "beta_s_per_B": 1e6}
"""The columns of a regime, and by what they are multiplied for the page, which has microseconds."""
POINTS_A_DOUBLING = 8
"""With which a straight line looks like the curve that it is on logarithmic axes."""


def _bare(label: str, x: Array, y: Array) -> Line:
    """A line without intervals."""
    nothing = np.full_like(x, np.nan)
    return Line(label, x, y, nothing, nothing)


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
