"""Figures of collectives: time against size by algorithm, time against ranks by configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import DEFAULT
from hockney.models.over_ranks.points import Configuration
from hockney.records.record import LOCALITIES
from hockney.report.collective_analysis import ALL, AlgorithmCurves, ExplainedStep
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import AGAINST_SIZE, Axis, Chart, Line, Mark, Panel, Shown, along, lines_of
from hockney.report.explorer.explored import by_dimension
from hockney.report.style import DEFAULT_STYLE, Looks, Style
from hockney.units import format_bytes

MOST_PANELS = 3
COLUMNS = 3
"""Panels beside each other in the figure of the algorithms."""
MOST_ALGORITHMS = 9
APART = 0.04
"""Share of the axis between the words of two steps: of nearer ones the first is named."""
# Allocations are no algorithms: their colours, dark to light, are none of the algorithms'.
ALLOCATIONS = (
    Style("#3b0f70", (), "o"),
    Style("#b5367a", (4, 1.5), "s"),
    Style("#f1a340", (1.2, 1.2), "^"),
    Style("#5a8f29", (5, 1.5, 1.2, 1.5), "D"),
    Style("#8a8a8a", (2, 1), "v"),
    Style("#1b7f79", (8, 1.4, 2.5, 1.4), "P"),
    Style("#d95f02", (3, 1.2), "X"),
)
MARKED = "Dotted: a step, in the colour of its curve, with the level that begins there, or what reproduces it."
MOST_DOTS = 40
"""Points of a curve with a marker each."""
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
    leaders: Sequence[str] = (),
) -> Drawing:
    """Time against size of one configuration on one number of ranks; the default and the `leaders` stand out.

    `names` are the columns that name the configuration; `number` counts the figures from 0; `left` is the number
    of configurations that are not drawn; `words` say what the times are. Without leaders, lines are of
    configurations.
    """
    rows = measured[measured["bytes"] > 0]
    lines = {line.label: line for line in lines_of(rows, AGAINST_SIZE, "label")}
    by = "algorithm" if leaders else "configuration"
    named = [label for label in leaders if label in lines] or [*lines]
    look = looks.of(named)
    drawn, grey = [], f"{len(lines) - len(named)} others"
    for label in [*named, *(other for other in lines if other not in named)]:
        line = lines[label]
        bare = replace(line, low=None, high=None)
        if label == DEFAULT:
            bare = replace(bare, label="default (the library's choice)", style=DEFAULT_STYLE, dots=4.0, order=5)
        elif label in look:
            bare = replace(bare, style=look[label], dots=4.0, order=4)
        else:
            bare, grey = replace(bare, label=grey, width=0.6, opacity=0.6, order=2), ""
        drawn.append(bare)
    ranks = int(configuration["ranks"])
    where = ", ".join(filter(None, [f"{ranks} ranks" if ranks else "ranks unknown", configuration.words(names)]))
    held = {name: configuration.words(columns) for name, columns in by_dimension(names).items()}
    return Drawing(
        f"{operation}-against-size" + (f"-{number + 1}" if number else ""),
        f"{operation} by {by}, {where}.",
        f"{operation}, {where}: time against size for {len(lines)} {by}s",
        _left_out(left).strip(),
        Chart(
            [[Panel(drawn, along(AGAINST_SIZE, operation), Axis(f"{words} in µs", "log", 1e-6))]],
            3.1,
            legend="right",
        ),
        choice=Shown(operation, ranks, held=held) if leaders else None,
    )


def _left_out(count: int) -> str:
    return f" {count} more configurations are in the tables." if count > 0 else ""


def against_ranks(
    operation: str, algorithms: Sequence[AlgorithmCurves], chosen: Sequence[str], names: Sequence[str],
    looks: Looks, words: str,
) -> list[Drawing]:  # fmt: skip
    """Time against ranks at one size: a panel for each configuration with the `chosen` algorithms.

    Where there are several allocations, also a panel for each algorithm with a line for each of them.
    """
    panels: dict[Configuration, dict[str, tuple[AlgorithmCurves, str]]] = {}
    for algorithm in algorithms:
        for allocation, configuration in algorithm.configurations.items():
            if algorithm.label in chosen:
                panels.setdefault(configuration, {})[algorithm.label] = algorithm, allocation
    # The configurations with most points, in the order of the tables.
    by_points = sorted(
        panels, key=lambda one: -sum(algorithm.ranks(n).size for algorithm, n in panels[one].values())
    )
    shown = {panel.words(names): panels[panel] for panel in panels if panel in by_points[:MOST_PANELS]}
    labels = sorted({label for own in shown.values() for label in own})
    size = format_bytes(algorithms[0].size_B)
    drawings = [
        Drawing(
            f"{operation}-against-ranks-{algorithms[0].size_B}",
            f"{operation} of {size} against the number of ranks.",
            f"{operation} of {size}: time against ranks for {', '.join(labels)}",
            MARKED + _left_out(len(panels) - len(shown)),
            Chart([_panels(shown, looks.of(labels), words)], 4.2, shared="row"),
            choice=Shown(operation, bytes=algorithms[0].size_B),
        )
    ]
    every = [algorithm for algorithm in algorithms if len(algorithm.points) > 1]
    for number, held in enumerate(dict.fromkeys(algorithm.held for algorithm in every)):
        own = [algorithm for algorithm in every if algorithm.held == held][:MOST_ALGORITHMS]
        allocations = list(dict.fromkeys(name for algorithm in own for name in algorithm.points))
        look = dict(zip(allocations, cycle(ALLOCATIONS), strict=False))
        titled = {panel.label: {name: (panel, name) for name in panel.points} for panel in own}
        row = _panels(titled, look, words)
        rows = [row[start : start + COLUMNS] for start in range(0, len(row), COLUMNS)]
        drawings.append(
            Drawing(
                f"{operation}-by-algorithm-{own[0].size_B}" + (f"-{number + 1}" if number else ""),
                f"{operation} of {size}: each algorithm, a line for each allocation.",
                f"{operation} of {size}: time against ranks, a panel for each of {', '.join(titled)}, a line for "
                f"each of {', '.join(allocations)}",
                MARKED,
                Chart(rows, 0.8 + 2.9 * len(rows), shared="all"),
            )
        )
    return drawings


def _panels(
    titled: Mapping[str, Mapping[str, tuple[AlgorithmCurves, str]]], look: Mapping[str, Style], words: str
) -> list[Panel]:
    """A panel under each title, with the curve of an algorithm and allocation for each label."""
    every = [algorithm.ranks(name) for own in titled.values() for algorithm, name in own.values()]
    counts = np.unique(np.concatenate(every))
    is_crowded = bool(np.median(counts) * CROWDED < counts[-1])
    x = Axis("ranks", "counts" if is_crowded else "linear", values=counts if is_crowded else None)
    scaled = math.log if is_crowded else float
    apart = APART * (scaled(counts[-1]) - scaled(counts[0]))
    panels = []
    for title, own in titled.items():
        lines: list[Line] = []
        marks: list[Mark] = []
        for label, (algorithm, name) in own.items():
            dots = 3.5 if len(algorithm.points[name]) <= MOST_DOTS else 0.0
            lines.append(
                Line(
                    label, algorithm.ranks(name), algorithm.time_s(name), style=look[label], width=1.2, dots=dots
                )
            )
            style = Style(look[label].colour, (1, 1.6), "")
            for step in algorithm.steps:
                if step.allocation in (name, ALL):
                    ends = step.place.before, step.place.after
                    at = math.sqrt(ends[0] * ends[1]) if is_crowded else sum(ends) / 2
                    named = [mark.at for mark in marks if mark.text]
                    is_free = all(abs(scaled(at) - scaled(other)) > apart for other in named)
                    marks.append(Mark(at, _reason(step) if is_free else "", style, 0.9, "top"))
        panels.append(Panel(lines, x, Axis(f"{words} in µs", "log", 1e-6), title, marks))
    return panels


def _reason(step: ExplainedStep) -> str:
    """The level of the machine that begins at a step, otherwise its cause."""
    level = [word for word in step.place.why if word in LOCALITIES]
    return ", ".join(level or step.explanation.causes).replace("schedule", "own messages")
