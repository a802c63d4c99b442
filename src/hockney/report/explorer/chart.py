"""What a figure shows, described once: `drawn` draws it for print, the script for any choice.

A `Chart` is panels of lines, marks and tiles in SI units. A `View` says which of the measured points a figure to
explore takes and what it draws against what; a `Selection` fills in what a reader chose. `panel` and the function
`chart` in `explorer.js` apply both to the same points; `tests/report/explorer` compares their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.records.keys import sizes_are_blocks
from hockney.report.style import QUIET, Looks, Style

DIMENSIONS = ("campaign", "system", "library", "placement", "variant", "algorithm")
"""In what points differ beside operation, ranks and size; the lines of a figure differ in one of them."""
ONLY = "the only one"
"""Where systems differ in a dimension, that of a system with one value: it stands beside each of the others'."""
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
class Selection:
    """An operation, ranks, a size and a value of each dimension to look at; those of `by` are compared."""

    operation: str
    by: str
    ranks: int
    bytes: int
    held: Mapping[str, str]


@dataclass(frozen=True)
class Shown:
    """What of the explorer shows the numbers of a figure: where it differs from an operation's first choice."""

    operation: str
    ranks: int | None = None
    bytes: int | None = None
    by: str | None = None
    held: Mapping[str, str] | None = None


WIDTH_IN = 10.6
"""Width of a figure on the page."""
GREY = Style(QUIET, (), "o")
"""What only helps to read: ideals, bounds, zero."""
DOTTED = Style(QUIET, (1, 2), "")


@dataclass(frozen=True)
class Line:
    """Values at `x`, ascending, with the ends of their intervals (NaN: none), in seconds, B/s or plain numbers.

    `width` of the line that joins them and `dots`, the size of their markers, in points: 0 for none. `label` is
    what a legend says, empty for nothing. `is_open`: markers are rings. `is_across`: intervals lie along x.
    """

    label: str
    x: Array
    y: Array
    low: Array | None = None
    high: Array | None = None
    style: Style = GREY
    width: float = 1.5
    dots: float = 0.0
    opacity: float = 1.0
    order: float = 3.0
    is_open: bool = False
    is_across: bool = False


@dataclass(frozen=True)
class Axis:
    """An axis and what it spans: `values`, or all that is drawn; `unit`: one on the axis in units of the values.

    `scale`: sizes on a binary logarithm with a place for 0 B; counts on one with ticks at them; a logarithm; a
    straight one, from 0 on where it begins with `from_0`, of whole numbers; per cent, linear within 1 %; names,
    which stand at 0, 1, … from the top.
    """

    title: str
    scale: Literal["size", "counts", "log", "linear", "from_0", "whole", "percent", "names"]
    unit: float = 1.0
    values: Array | None = None
    names: Sequence[str] = ()


NOTHING: Array = np.zeros(0)
"""The values of a line that is in the legend alone."""
TIME = Axis("time (µs)", "log", 1e-6)


@dataclass(frozen=True)
class Mark:
    """A straight line across a panel at `at` with words: a vertical one, or a level where `is_level`.

    `place` of the words: above the panel (in rows, so that they do not touch), at its top or its foot, along the
    line; of a level at its beginning or its end. `reach`: shares of the width that a level goes from and to.
    """

    at: float
    text: str = ""
    style: Style = DOTTED
    width: float = 0.8
    place: Literal["above", "top", "foot", "begin", "end"] = "above"
    is_level: bool = False
    reach: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Tiles:
    """A map: a colour (rows, columns, 3) for each cell in equal steps, and words in some, by (row, column)."""

    colours: Array
    columns: Sequence[str]
    rows: Sequence[str]
    words: Mapping[tuple[int, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class MapCell:
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
class Panel:
    """One pair of axes. `cells`: of a map to explore.

    `band`: a grey one between two values, or between two ratios to the abscissa where `is_square`: then both axes
    are the same and a line stands where they are equal. `key`: colours of a map in words, below it.
    """

    lines: Sequence[Line] = ()
    x: Axis = Axis("ranks", "counts")
    y: Axis = Axis("", "log")
    title: str = ""
    marks: Sequence[Mark] = ()
    band: tuple[float, float] | None = None
    is_square: bool = False
    tiles: Tiles | None = None
    key: Mapping[str, str | tuple[float, float, float]] = field(default_factory=dict)
    key_title: str = ""
    cells: Sequence[MapCell] = ()


@dataclass(frozen=True)
class Chart:
    """A figure: rows of panels (None: an empty place) with one legend. Maps have a height of their own.

    `shared`: panels of a row, or all, have one axis of values. `legend`: of all lines with a label.
    """

    rows: Sequence[Sequence[Panel | None]]
    height_in: float = 4.0
    width_in: float = WIDTH_IN
    title: str = ""
    shared: Literal["", "row", "all"] = ""
    legend: Literal["below", "right", "none"] = "below"
    columns: int = 5
    """Most entries of the legend beside each other."""
    widths: Sequence[float] = ()
    """Of the panels of a row, in parts."""
    legend_title: str = ""


@dataclass(frozen=True)
class Explored:
    """All that can be looked at, in seconds and bytes.

    `points`: `operation`, `DIMENSIONS`, `ranks` (0: unknown), `bytes`, `time_s`, `low_s`, `high_s` (NaN: no
    interval), `repeats` (of how many values without an interval low and high are the range; 0: they are a 95 %
    interval), `streams` (by which bytes are multiplied for a rate: the messages under way at once, all pairs and
    directions, or the blocks of a vector) and `origin` (where they came from). `cells`: `operation`, `DIMENSIONS`
    but the algorithm, and the fields of `MapCell`. `first`: the choice that each operation begins with.
    """

    points: pd.DataFrame
    cells: pd.DataFrame
    first: Mapping[str, Selection]


def panel(view: View, choice: Selection, explored: Explored) -> Panel:
    """The figure of a choice."""
    if view.kind == "map":
        cells = _held(explored.cells, choice, but="algorithm")
        rows = cells[[each.name for each in fields(MapCell)]].astype(object)
        return Panel(
            cells=[MapCell(*row) for row in rows.where(rows.notna(), None).itertuples(index=False, name=None)]
        )
    other = "ranks" if view.x == "bytes" else "bytes"
    points = _held(explored.points, choice, but=choice.by)
    return Panel(lines_of(points[points[other] == getattr(choice, other)], view, choice.by), along(view))


def figure(view: View, panels: Mapping[str, Panel], looks: Looks) -> Chart:
    """Panels of a view of times side by side under their titles, with one scale and one legend."""
    look = looks.of(list(dict.fromkeys(line.label for one in panels.values() for line in one.lines)))
    values = np.concatenate([line.x for one in panels.values() for line in one.lines])
    x = replace(along(view), values=values)
    shown = [
        Panel([replace(line, style=look[line.label], dots=4.0) for line in one.lines], x, TIME, title)
        for title, one in panels.items()
    ]
    return Chart([shown], 3.8, shared="row")


def along(view: View, operation: str = "") -> Axis:
    """The axis of sizes, those of the operation, or of ranks that a view is drawn over."""
    title = "message size" + (" (block of a rank)" if operation and sizes_are_blocks(operation) else "")
    return Axis(title, "size") if view.x == "bytes" else Axis("ranks", "counts")


def lines_of(points: pd.DataFrame, view: View, by: str) -> list[Line]:
    """A line for each value of the column `by`, in the order of the values."""
    return [_line(str(label), rows.sort_values(view.x), view) for label, rows in points.groupby(by, sort=True)]


def _line(label: str, rows: pd.DataFrame, view: View) -> Line:
    x = rows[view.x].to_numpy(np.float64)
    time_s, low_s, high_s = (rows[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    if view.y == "time":
        return Line(label, x, time_s, low_s, high_s)
    size_B = rows["streams"].to_numpy(np.float64) * rows["bytes"].to_numpy(np.float64)
    # Without a time there is no rate.
    rate, low, high = (
        np.divide(size_B, each, out=np.full_like(size_B, np.nan), where=each > 0)
        for each in (time_s, high_s, low_s)
    )
    return Line(label, x, rate, low, high)


def model_lines(points: pd.DataFrame, regimes: pd.DataFrame, *, over_measured: bool = False) -> list[Line]:
    """The models' times of one curve, a line for each regime; or at its sizes over the measured time.

    `regimes`: `model`, `min_B`, `max_B` (inf: no end), `alpha_s` and `beta_s_per_B`, in the order of sizes. A
    model's time at 0 B is a line of one point. A model may give a negative time.
    """
    rows = points.sort_values("bytes")
    size_B, time_s = (rows[name].to_numpy(np.float64) for name in ("bytes", "time_s"))
    lines = []
    for model, own in regimes.groupby("model", sort=False):
        low_B, high_B, alpha_s, beta = (own[name].to_numpy(np.float64) for name in REGIME)
        if over_measured:
            place = np.searchsorted(high_B, size_B, side="left")
            lines.append(Line(str(model), size_B, (alpha_s[place] + beta[place] * size_B) / time_s))
            continue
        if size_B[0] == 0 and low_B[0] == 0:
            lines.append(Line(str(model), np.zeros(1), alpha_s[:1]))
        positive = size_B[size_B > 0]
        for low, high, start, slope in zip(low_B, high_B, alpha_s, beta, strict=True):
            if positive.size and (first := max(low, positive[0])) <= (last := min(high, positive[-1])):
                x = np.geomspace(first, last, int(POINTS_A_DOUBLING * np.log2(last / first)) + 2)
                lines.append(Line(str(model), x, start + slope * x))
    return lines


REGIME = ("min_B", "max_B", "alpha_s", "beta_s_per_B")
"""The columns of a regime."""
POINTS_A_DOUBLING = 8
"""With which a straight line looks like the curve that it is on logarithmic axes."""


def most_ranks(measured: pd.DataFrame, by: str = "label") -> int:
    """The largest number of ranks that has nearly as many values of `by` as any, most of them algorithms."""
    width = measured.groupby("ranks")[by].nunique()
    return int(width.index[width >= FULL * width.max()].max())


FULL = 0.8
"""What has this share of the most that any has is nearly as full."""


def _held(rows: pd.DataFrame, choice: Selection, but: str) -> pd.DataFrame:
    keep = (rows["operation"] == choice.operation).to_numpy()
    for name in DIMENSIONS:
        if name != but and name in rows.columns and name in choice.held:
            keep = keep & rows[name].isin([choice.held[name], ONLY]).to_numpy()
    return rows[keep]
