"""Charts of lines drawn by matplotlib, for print and for readers without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hockney.report.axes import SizeAxis, count_axis, log_axis
from hockney.report.drawing import WIDTH_IN
from hockney.report.explorer.chart import Array, Chart, Line
from hockney.report.style import Looks, Style


def figure(charts: Mapping[str, Chart], looks: Looks, y_title: str, size_title: str = "message size") -> Figure:
    """Charts of one view side by side under their titles, with one scale and one legend.

    Times are drawn in µs, rates in B/s.
    """
    made = Figure(figsize=(WIDTH_IN, 3.8), layout="constrained")
    panels = made.subplots(1, len(charts), sharey=True, squeeze=False)[0]
    lines = [line for one in charts.values() for line in one.lines]
    look = looks.of(list(dict.fromkeys(line.label for line in lines)))
    size_axis = SizeAxis.of([line.x for line in lines])
    view = next(iter(charts.values())).view
    scale = 1e6 if view.y == "time" else 1.0
    for axes, (title, one) in zip(panels, charts.items(), strict=True):
        for line in one.lines:
            _draw(
                axes, line, size_axis.position(line.x) if view.x == "bytes" else line.x, scale, look[line.label]
            )
        axes.set_title(title)
        if view.x == "bytes":
            size_axis.apply(axes, labels=8 // len(charts) + 2, title=size_title)
        else:
            count_axis(axes, np.concatenate([line.x for line in lines]), "ranks")
    ends = np.concatenate([np.concatenate([line.y, line.low, line.high]) for line in lines]) * scale
    log_axis(panels[0], float(np.nanmin(ends)), float(np.nanmax(ends)))
    panels[0].set_ylabel(y_title)
    handles = {str(line.get_label()): line for axes in panels for line in axes.get_lines()}
    made.legend(
        [handles[label] for label in look], list(look), loc="outside lower center", ncols=_columns([*look])
    )
    return made


def _columns(labels: Sequence[str]) -> int:
    return max(1, min(5, 150 // (max(map(len, labels)) + 10)))


def _draw(axes: Axes, line: Line, at: Array, scale: float, style: Style) -> None:
    axes.plot(at, line.y * scale, label=line.label, marker=style.marker, **style.line)
    errors = np.nan_to_num(np.abs(np.vstack([line.y - line.low, line.high - line.y]))) * scale
    if errors.any():
        axes.errorbar(at, line.y * scale, yerr=errors, fmt="none", ecolor=style.colour, elinewidth=0.9)
