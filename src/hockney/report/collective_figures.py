"""Figures of collectives: time against size by algorithm, time against ranks by configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hockney.models.over_ranks.choice import DEFAULT
from hockney.models.over_ranks.points import Configuration
from hockney.records.keys import sizes_are_blocks
from hockney.report.axes import SizeAxis, count_axis, log_axis
from hockney.report.collective_jumps import Breaks, Key
from hockney.report.drawing import WIDTH_IN, Drawing, legend_below
from hockney.report.explorer.chart import AGAINST_SIZE, Line, lines_of
from hockney.report.explorer.explored import by_dimension
from hockney.report.style import DEFAULT_STYLE, QUIET, Looks, Style
from hockney.units import format_bytes

CLEAREST = 2
"""Jumps drawn for each curve besides those at boundaries; the table lists all of them."""
MOST_PANELS = 3
NAMED = 8
"""Most algorithms drawn in colour: those that are fastest at some size; all others are thin and grey."""
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
    named = [*lines] if is_of_one else _winners(lines)
    look = looks.of(named)
    figure = Figure(figsize=(WIDTH_IN, 4.6), layout="constrained")
    axes = figure.subplots()
    size_axis = SizeAxis.of([line.x for line in lines.values()])
    grey = False
    for label, line in lines.items():
        at = size_axis.position(line.x)
        time_us = line.y * 1e6
        if label == DEFAULT:
            axes.plot(at, time_us, label="default (the library's choice)", zorder=5, **_line(DEFAULT_STYLE))
        elif label in look:
            axes.plot(at, time_us, label=label, zorder=4, **_line(look[label]))
        else:
            axes.plot(
                at, time_us, color=QUIET, linewidth=0.6, alpha=0.6, label="" if grey else "others", zorder=2
            )
            grey = True
    size_axis.apply(axes, title="block of a rank" if sizes_are_blocks(operation) else "vector")
    times = np.concatenate([line.y for line in lines.values()]) * 1e6
    log_axis(axes, float(times.min()), float(times.max()))
    axes.set_ylabel(f"{words} in µs")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ranks = int(configuration["ranks"])
    where = ", ".join(filter(None, [f"{ranks} ranks" if ranks else "ranks unknown", configuration.words(names)]))
    return Drawing(
        f"{operation}-against-size" + (f"-{number + 1}" if number else ""),
        f"{operation} by {by}, {where}.",
        f"{operation}, {where}: time against size for {len(lines)} {by}s",
        ("" if is_of_one else "Coloured: algorithms that are the fastest at some size.") + _left_out(left),
        figure,
        choice=None
        if is_of_one
        else {
            "operation": operation,
            "ranks": ranks,
            "held": {name: configuration.words(held) for name, held in by_dimension(names).items()},
        },
    )


def _left_out(count: int) -> str:
    return f" {count} more configurations are in the tables." if count > 0 else ""


def _winners(lines: Mapping[str, Line]) -> list[str]:
    """The algorithms that are fastest at some size, the most frequent first."""
    table = pd.DataFrame({label: pd.Series(one.y, one.x) for label, one in lines.items() if label != DEFAULT})
    wins = table.idxmin(axis="columns").value_counts()
    return [str(label) for label in wins.index[:NAMED]]


def _line(style: Style) -> dict[str, Any]:
    return {"color": style.colour, "dashes": style.dashes or (None, None), "marker": style.marker}


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
    figure = Figure(figsize=(WIDTH_IN, 4.2))
    drawn = np.atleast_1d(np.asarray(figure.subplots(1, len(chosen), sharey=True)))
    counts = np.unique(np.concatenate([curve["ranks"] for one in chosen for curve in panels[one].values()]))
    is_crowded = bool(np.median(counts) * CROWDED < counts[-1])
    handles: dict[str, Any] = {}
    for panel, configuration in zip(drawn, chosen, strict=True):
        if is_crowded:
            count_axis(panel, counts, "ranks")
        else:
            panel.set_xlabel("ranks")
        _panel(
            panel,
            panels[configuration],
            look,
            {label: broken[configuration, label] for label in panels[configuration]},
        )
        panel.set_title(configuration.words(names))
        handles |= {str(line.get_label()): line for line in panel.get_lines() if line.get_label() in look}
    times = np.concatenate(
        [
            curve["time_s"].to_numpy(np.float64)
            for configuration in chosen
            for curve in panels[configuration].values()
        ]
    )
    log_axis(drawn[0], float(times.min()) * 1e6, float(times.max()) * 1e6)
    drawn[0].set_ylabel(f"{words} in µs")
    legend_below(figure, [*handles.values()], [*handles], 5, top_in=0.3, gaps_in=(0.12, 0.0))
    return Drawing(
        f"{operation}-against-ranks-{size_B}",
        f"{operation} of {format_bytes(size_B)} against the number of ranks.",
        f"{operation} of {format_bytes(size_B)}: time against ranks for {', '.join(labels)}",
        "Vertical lines have the colour of their curve. Dash-dotted: a break where the named level begins. "
        "Dotted: the clearest other breaks." + _left_out(len(panels) - len(chosen)),
        figure,
        choice={"operation": operation, "bytes": size_B},
    )


def _panel(
    axes: Axes, lines: Mapping[str, pd.DataFrame], look: Mapping[str, Style], broken: Mapping[str, Breaks]
) -> None:
    named: set[tuple[float, str]] = set()
    is_log = axes.get_xscale() == "log"
    for label, curve in lines.items():
        style = look[label]
        marker: dict[str, Any] = {"marker": style.marker} if len(curve) <= 40 else {}
        axes.plot(
            curve["ranks"].to_numpy(np.float64),
            curve["time_s"].to_numpy(np.float64) * 1e6,
            color=style.colour,
            dashes=style.dashes or (None, None),
            label=label,
            **marker,
        )
        others = 0
        for jump in broken[label].notable:
            at = math.sqrt(jump.before * jump.after) if is_log else (jump.before + jump.after) / 2
            others += jump.boundary is None
            if jump.boundary is not None:
                axes.axvline(at, color=style.colour, linestyle="-.", linewidth=0.9)
                named.add((at, jump.boundary))
            elif others <= CLEAREST:
                axes.axvline(at, color=style.colour, linestyle=":", linewidth=0.9)
    position = math.log if is_log else float
    left, right = map(position, axes.get_xlim())
    last: dict[str, float] = {}
    for at, level in sorted(named):
        # Curves with other numbers of ranks have the same boundary at a slightly different place.
        if position(at) - last.get(level, -math.inf) > 0.03 * (right - left):
            words: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "rotation": 90, "fontsize": 7}
            axes.text(at, 0.99, level, va="top", ha="right", **words)
            last[level] = position(at)
