"""The ring's time against the number of processes: measured, and the lines between breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from hockney.apps.ring.lines import RingComparison
from hockney.models.over_ranks.boundaries import begins
from hockney.records.record import Locality
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import NOTHING, Axis, Chart, Line, Mark, Panel
from hockney.report.style import QUIET, Style, styles

HEADROOM = 1.25
"""The axis of time over the longest time: one disturbed repetition's interval must not flatten all others."""
MOST_NAMED = 12
"""Boundaries that are drawn wherever they are; the labels of more would touch."""
ABSOLUTE = Style(QUIET, (1.5, 1.5), "")


def ring(curves: Mapping[str, RingComparison], name: str = "ring") -> Drawing:
    """One panel: dots with intervals measured, solid lines fitted."""
    looks = styles(list(curves))
    lines = [line for title, curve in curves.items() for line in _lines(title, curve, looks[title])]
    if any(line.style is ABSOLUTE for line in lines):
        lines.append(Line("fitted to absolute residuals", NOTHING, NOTHING, style=ABSOLUTE, width=0.9))
    marks = [
        Mark(
            (before + after) / 2,
            begins(level) + f" ({', '.join(whose)})" * (len(whose) < len(curves)),
            Style(QUIET, (4, 3), ""),
        )
        for (before, after, level), whose in _boundaries(curves).items()
    ]
    runs = [run.record for curve in curves.values() for run in curve.curve.runs]
    y = Axis("time of a cycle [µs]", "from_0", 1e-6, np.array([HEADROOM * max(run.time_s for run in runs)]))
    title = f"Ring of up to {max(run.ranks for run in runs)} processes"
    panel = Panel(lines, Axis("processes", "whole"), y, marks=marks)
    return Drawing(
        name,
        f"{title}.",
        f"{title}: the time of a cycle against the number of processes, for {', '.join(curves)}.",
        "Dots are medians with 95 % intervals, which may reach beyond the figure. Lines are fitted to relative "
        "residuals between breaks, grey dotted ones to absolute residuals. Dashed verticals are where the "
        "placement fills a cache, a package or a node.",
        Chart([[panel]], 4.2, title=title, columns=2),
    )


def _boundaries(curves: Mapping[str, RingComparison]) -> dict[tuple[int, int, Locality], list[str]]:
    """Where boundaries are drawn, and of which curves: of more than `MOST_NAMED` those at which a line begins."""
    whose: dict[tuple[int, int, Locality], list[str]] = {}
    for name, curve in curves.items():
        for boundary in curve.curve.boundaries:
            whose.setdefault((boundary.before, boundary.after, boundary.level), []).append(name)
    if len(whose) <= MOST_NAMED:
        return whose
    fitted = [curve.fitted for curve in curves.values() if curve.fitted]
    firsts = {segment.first for each in fitted for segment in each.segments[1:]}
    return {place: names for place, names in whose.items() if place[1] in firsts}


def _lines(name: str, curve: RingComparison, look: Style) -> Iterator[Line]:
    runs = [run.record for run in curve.curve.runs]
    ranks = np.array([run.ranks for run in runs], dtype=np.float64)
    times_s = [(run.time_s, run.low_s, run.high_s) for run in runs]
    time_s, low_s, high_s = np.array(times_s, dtype=np.float64).T
    yield Line(f"{name}: measured", ranks, time_s, low_s, high_s, look, width=0, dots=3.6, order=5)
    label = f"{name}: fitted, a line between breaks"
    for segment in [] if curve.fitted is None else curve.fitted.segments:
        ends = np.array([segment.first, segment.last], dtype=np.float64)
        line_s, absolute_s = segment.at(ends), segment.at(ends, absolute=True)
        if line_s is not None and absolute_s is not None:
            yield Line(label, ends, line_s, style=Style(look.colour, (), ""), width=1.3)
            yield Line("", ends, absolute_s, style=ABSOLUTE, width=0.9, order=4)
            label = ""
