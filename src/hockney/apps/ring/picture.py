"""The ring's time against the number of processes: measured, the lines between breaks, and what was predicted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hockney.apps.ring.lines import RingComparison
from hockney.records.record import Locality
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.drawn import write_drawing
from hockney.report.style import QUIET, Style, styles

HEADROOM = 1.25
"""The axis of time over the longest time."""
MOST_NAMED = 12
"""Boundaries that are drawn wherever they are; the labels of more would touch."""


def ring(curves: Mapping[str, RingComparison], model: str, name: str = "ring") -> Drawing:
    """One panel: dots with intervals measured, solid lines fitted, dotted ones predicted by `model`."""
    figure = Figure(figsize=(WIDTH_IN, 4.2), layout="constrained")
    axes = figure.subplots()
    looks = styles(list(curves))
    has_lines = [_draw(axes, name, curve, looks[name], model) for name, curve in curves.items()]
    if any(has_lines):
        axes.plot(
            [], [], color=QUIET, linewidth=0.9, linestyle=(0, (1.5, 1.5)), label="fitted to absolute residuals"
        )
    for (before, after), level in _told(curves).items():
        axes.axvline((before + after) / 2, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            f"another {level}", ((before + after) / 2, 1.0), xycoords=axes.get_xaxis_transform(),
            xytext=(3, -2), textcoords="offset points", ha="left", va="top", fontsize=7, color=QUIET,
        )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("processes")
    axes.set_ylabel("time of a cycle [µs]")
    axes.set_xlim(left=0)
    # An interval that one disturbed repetition made long must not flatten all others.
    axes.set_ylim(0, HEADROOM * max(point.time_s for curve in curves.values() for point in curve.points) * 1e6)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(2, len(labels)))
    most = max(point.ranks for curve in curves.values() for point in curve.points)
    title = f"Ring of up to {most} processes"
    figure.suptitle(title, fontsize=9)
    return Drawing(
        name,
        f"{title}.",
        f"{title}: the time of a cycle against the number of processes, for {', '.join(curves)}.",
        "Dots are medians with 95 % intervals; lines are fitted to relative residuals between breaks, grey "
        "dotted ones to absolute residuals; intervals may reach beyond the figure; dashed verticals are where "
        "the placement fills something.",
        figure,
    )


def _told(curves: Mapping[str, RingComparison]) -> dict[tuple[int, int], Locality]:
    """The boundaries that are drawn: of more than `MOST_NAMED` those at which a line begins."""
    levels = {
        (boundary.before, boundary.after): boundary.level
        for curve in curves.values()
        for boundary in curve.curve.boundaries
    }
    if len(levels) <= MOST_NAMED:
        return levels
    begins = {segment.first for curve in curves.values() if curve.fitted for segment in curve.fitted.segments[1:]}
    return {ends: level for ends, level in levels.items() if ends[1] in begins}


def _draw(axes: Axes, name: str, curve: RingComparison, look: Style, model: str) -> bool:
    """Whether there is a line."""
    ranks = [point.ranks for point in curve.points]
    spread = np.array(
        [
            (0.0, 0.0)
            if point.low_s is None or point.high_s is None
            else (abs(point.time_s - point.low_s), abs(point.high_s - point.time_s))
            for point in curve.points
        ]
    )
    axes.errorbar(
        ranks, [point.time_s * 1e6 for point in curve.points], yerr=spread.T * 1e6, fmt=look.marker,
        color=look.colour, markersize=3.6, elinewidth=1.0, capsize=2.0, label=f"{name}: measured", zorder=5,
    )  # fmt: skip
    drawn = 0
    for segment in [] if curve.fitted is None else curve.fitted.segments:
        ends = np.array([segment.first, segment.last], dtype=np.float64)
        line_s, absolute_s = segment.at(ends), segment.at(ends, absolute=True)
        if line_s is None or absolute_s is None:
            continue
        label = f"{name}: fitted, a line between breaks" if not drawn else ""
        axes.plot(ends, line_s * 1e6, color=look.colour, linewidth=1.3, label=label)
        axes.plot(ends, absolute_s * 1e6, color=QUIET, linewidth=0.9, linestyle=(0, (1.5, 1.5)), zorder=4)
        drawn += 1
    predicted = [point.predicted.time_s * 1e6 if point.predicted else math.nan for point in curve.points]
    if not all(map(math.isnan, predicted)):
        axes.plot(
            ranks, predicted, color=look.colour, linestyle=":", linewidth=1.6,
            label=f"{name}: predicted ({model})",
        )  # fmt: skip
    return drawn > 0


def write(path: Path, curves: Mapping[str, RingComparison], model: str) -> None:
    """Draw `ring` into `.svg`, `.png` or `.html`; RequestError for another ending or an unwritable place."""
    write_drawing(path, lambda: ring(curves, model))
