"""Figures of collectives: time against size by algorithm, time against ranks by configuration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import DEFAULT
from hockney.models.over_ranks.points import Configuration
from hockney.records.keys import sizes_are_blocks
from hockney.report.collective_jumps import Breaks, Key
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import AGAINST_SIZE, Axis, Chart, Line, Mark, Panel, Shown, lines_of
from hockney.report.explorer.explored import by_dimension
from hockney.report.style import DEFAULT_STYLE, Looks, Style
from hockney.units import format_bytes

CLEAREST = 2
"""Jumps drawn for each curve besides those at boundaries; the table lists all of them."""
MOST_PANELS = 3
NAMED = 8
"""Most algorithms drawn in colour: those that are fastest at some size; all others are thin and grey."""
NEAR = 0.1
"""Places that are nearer in ranks have one name."""
MOST_DOTS = 40
"""Points of a curve that are told apart by markers."""
CROWDED = 8
"""A linear axis crowds where half of the numbers of ranks lie below this part of the largest (powers of two)."""


def against_size(
    operation: str,
    measured: pd.DataFrame,
    configuration: Configuration,
    names: Sequence[str],
    number: int,
    left: int,
    looks: Looks,
    words: str,
    by: str = "algorithm",
) -> Drawing:
    """Time against size of one configuration on one number of ranks; the default and the fastest stand out.

    `names` are the columns that name the configuration; `number` counts the figures from 0; `left` is the number
    of configurations that are not drawn; `words` say what the times are. `by`: what the labels are.
    """
    rows = measured[measured["bytes"] > 0]
    lines = {line.label: line for line in lines_of(rows, AGAINST_SIZE, "label")}
    is_of_one = by != "algorithm"
    look = looks.of([*lines] if is_of_one else _winners(lines))
    drawn, grey = [], "others"
    for label, line in lines.items():
        bare = replace(line, low=None, high=None)
        if label == DEFAULT:
            bare = replace(bare, label="default (the library's choice)", style=DEFAULT_STYLE, dots=4.0, order=5)
        elif label in look:
            bare = replace(bare, style=look[label], dots=4.0, order=4)
        else:
            bare, grey = replace(bare, label=grey, width=0.6, opacity=0.6, order=2), ""
        drawn.append(bare)
    x = Axis("block of a rank" if sizes_are_blocks(operation) else "vector", "size")
    ranks = int(configuration["ranks"])
    where = ", ".join(filter(None, [f"{ranks} ranks" if ranks else "ranks unknown", configuration.words(names)]))
    held = {name: configuration.words(columns) for name, columns in by_dimension(names).items()}
    return Drawing(
        f"{operation}-against-size" + (f"-{number + 1}" if number else ""),
        f"{operation} by {by}, {where}.",
        f"{operation}, {where}: time against size for {len(lines)} {by}s",
        ("" if is_of_one else "Coloured: algorithms that are the fastest at some size.") + _left_out(left),
        Chart([[Panel(drawn, x, Axis(f"{words} in µs", "log", 1e-6))]], 4.6, legend="right"),
        choice=None if is_of_one else Shown(operation, ranks, held=held),
    )


def _left_out(count: int) -> str:
    return f" {count} more configurations are in the tables." if count > 0 else ""


def _winners(lines: Mapping[str, Line]) -> list[str]:
    """The algorithms that are fastest at some size, the most frequent first."""
    table = pd.DataFrame({label: pd.Series(one.y, one.x) for label, one in lines.items() if label != DEFAULT})
    wins = table.idxmin(axis="columns").value_counts()
    return [str(label) for label in wins.index[:NAMED]]


def against_ranks(
    operation: str,
    lines: Mapping[Key, pd.DataFrame],
    size_B: int,
    names: Sequence[str],
    broken: Mapping[Key, Breaks],
    looks: Looks,
    words: str,
) -> Drawing:
    """Time against ranks at one size, one panel for each configuration: its curves and their breaks."""
    panels: dict[Configuration, dict[str, pd.DataFrame]] = {}
    for (configuration, label), curve in lines.items():
        panels.setdefault(configuration, {})[label] = curve
    # The configurations with most points, in the order of the tables.
    by_size = sorted(panels, key=lambda configuration: -sum(map(len, panels[configuration].values())))
    chosen = [configuration for configuration in panels if configuration in by_size[:MOST_PANELS]]
    labels = sorted({label for configuration in chosen for label in panels[configuration]})
    look = looks.of(labels)
    x = ranks_axis([curve["ranks"] for one in chosen for curve in panels[one].values()])
    row = [
        Panel(
            [
                Line(
                    label, curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64),
                    style=look[label], dots=4.0 if len(curve) <= MOST_DOTS else 0.0,
                )
                for label, curve in panels[configuration].items()
            ],
            x,
            Axis(f"{words} in µs", "log", 1e-6),
            configuration.words(names),
            _breaks({label: broken[configuration, label] for label in panels[configuration]}, look, x),
        )
        for configuration in chosen
    ]  # fmt: skip
    return Drawing(
        f"{operation}-against-ranks-{size_B}",
        f"{operation} of {format_bytes(size_B)} against the number of ranks.",
        f"{operation} of {format_bytes(size_B)}: time against ranks for {', '.join(labels)}",
        "Vertical lines have the colour of their curve. Dash-dotted: a break where the named level begins. "
        "Dotted: the clearest other breaks." + _left_out(len(panels) - len(chosen)),
        Chart([row], 4.2, shared="row"),
        choice=Shown(operation, bytes=size_B),
    )


def ranks_axis(ranks: Sequence[Iterable[float]]) -> Axis:
    """The axis of these numbers of ranks: logarithmic where they would crowd."""
    counts = np.unique(np.concatenate([np.asarray(own, np.float64) for own in ranks]))
    is_crowded = bool(np.median(counts) * CROWDED < counts[-1])
    return Axis("ranks", "counts" if is_crowded else "linear", values=counts if is_crowded else None)


def between(axis: Axis, before: float, after: float) -> float:
    """The middle of a gap as the axis shows it."""
    return math.sqrt(before * after) if axis.scale == "counts" else (before + after) / 2


def _breaks(broken: Mapping[str, Breaks], look: Mapping[str, Style], x: Axis) -> list[Mark]:
    marks: list[Mark] = []
    named: list[tuple[str, float]] = []
    for label, own in broken.items():
        others = 0
        for jump in own.notable:
            at = between(x, jump.before, jump.after)
            others += jump.boundary is None
            if jump.boundary is not None:
                # Curves with other numbers of ranks have the same boundary at a slightly different place.
                is_new = all(jump.boundary != level or abs(at / other - 1) > NEAR for level, other in named)
                named += [(jump.boundary, at)] if is_new else []
                look_of = Style(look[label].colour, (6, 2, 1, 2), "")
                marks.append(Mark(at, jump.boundary if is_new else "", look_of, 0.9, "top"))
            elif others <= CLEAREST:
                marks.append(Mark(at, "", Style(look[label].colour, (1, 1.6), ""), 0.9))
    return marks
