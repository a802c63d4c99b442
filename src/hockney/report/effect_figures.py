"""Figures of effects: a column of the points against another, with a series for each value of a third."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hockney.models.effects.base import Cell, Effect, Plot
from hockney.report.axes import rate_unit, time_unit
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.style import Style, styles
from hockney.units import counted
from hockney.words import grouped

MOST_SERIES = 8


def figures(effect: Effect, name: str, title: str) -> list[Drawing]:
    """One figure for each plot that has points; the names of their files begin with `name`."""
    drawings = []
    for number, plot in enumerate(effect.plots):
        rows = [row for row in effect.points if _selected(row, plot) and _drawable(row, plot)]
        if len(rows) > 1:
            drawings.append(_draw(plot, rows, f"{name}-{number + 1}" if number else name, title))
    return drawings


def column(name: str) -> tuple[str, str]:
    """The words and the unit of a column: `block_length_B` → (`block length`, `B`)."""
    if name == "bytes":
        return "message size", "B"
    for unit in ("B_per_s", "s_per_B", "per_s", "B", "s"):
        if name.endswith(f"_{unit}"):
            return name.removesuffix(f"_{unit}").replace("_", " "), unit.replace("_per_", "/")
    return name.replace("_", " "), ""


def _selected(row: Mapping[str, Cell], plot: Plot) -> bool:
    return all(row.get(name) == value for name, value in plot.where.items())


def _drawable(row: Mapping[str, Cell], plot: Plot) -> bool:
    x, y = row.get(plot.x), row.get(plot.y)
    known = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (x, y))
    return known and not (plot.log_y and float(str(y)) <= 0) and not (plot.log_x and float(str(x)) < 0)


def _draw(plot: Plot, rows: Sequence[Mapping[str, Cell]], name: str, title: str) -> Drawing:
    groups = grouped(rows, lambda row: "" if not plot.by else str(row.get(plot.by)))
    dropped = max(0, len(groups) - MOST_SERIES)
    groups = dict(list(groups.items())[:MOST_SERIES])
    drawn = [row for group in groups.values() for row in group]
    y, x = _axis(plot.y, drawn, is_log=plot.log_y), _axis(plot.x, drawn, is_log=plot.log_x)
    label, unit = column(plot.by) if plot.by else ("", "")
    looks = styles(list(groups))
    lines = [line for word, group in groups.items() for line in _lines(plot, group, looks[word], word)]
    legend = f"{label} [{unit}]" if unit else label
    heading = plot.title or f"{column(plot.y)[0]} against {column(plot.x)[0]}"
    caption = "Dots are measured, lines are the model. " if plot.model else ""
    caption += f"{dropped} further series are in the table only." if dropped else ""
    values = [float(str(row[plot.y])) for row in drawn]
    spread = f"{min(values):.3g} to {max(values):.3g} {column(plot.y)[1]}".rstrip()
    alt = f"{title}: {heading}, {counted(len(drawn), 'point')} from {spread}."
    chart = Chart([[Panel(lines, x, y)]], 3.4, WIDTH_IN * 0.62, columns=4, legend_title=legend)
    return Drawing(name, f"{title}: {heading}.", alt, caption, chart)


def _axis(name: str, rows: Sequence[Mapping[str, Cell]], *, is_log: bool) -> Axis:
    """The axis of a column, in a unit in which its values read well."""
    label, unit = column(name)
    values = np.array([float(str(row[name])) for row in rows])
    scale = 1.0
    if unit == "s":
        scale, unit = time_unit(float(values.max()))
    elif unit == "B/s":
        scale, unit = rate_unit(float(values.max()))
    elif unit == "B" and is_log:
        return Axis(label, "size")
    return Axis(f"{label} [{unit}]" if unit else label, "log" if is_log else "from_0", scale, values)


def _lines(plot: Plot, rows: Sequence[Mapping[str, Cell]], look: Style, label: str) -> list[Line]:
    """The measured points, and the model through them where there is one."""
    ordered = sorted(rows, key=lambda row: float(str(row[plot.x])))
    x, y = (np.array([float(str(row[name])) for row in ordered]) for name in (plot.x, plot.y))
    model = [row.get(plot.model) for row in ordered] if plot.model else []
    measured = Line(label, x, y, style=look, dots=4.0, width=0.0 if plot.model else 1.5)
    if not model or not all(isinstance(value, int | float) for value in model):
        return [measured]
    return [measured, Line("", x, np.array(model, dtype=np.float64), style=look, width=1.0)]
