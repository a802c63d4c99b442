"""Figures of effects: a column of the points against another, with a series for each value of a third."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from hockney.models.effects.base import Cell, Effect, Plot
from hockney.report.axes import SizeAxis, log_axis, plain, rate_unit, time_unit
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.style import Style, styles

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
    groups: dict[str, list[Mapping[str, Cell]]] = {}
    for row in rows:
        groups.setdefault("" if not plot.by else str(row.get(plot.by)), []).append(row)
    dropped = max(0, len(groups) - MOST_SERIES)
    groups = dict(list(groups.items())[:MOST_SERIES])
    drawn = [row for group in groups.values() for row in group]
    figure = Figure(figsize=(WIDTH_IN * 0.62, 3.4), layout="constrained")
    axes = figure.subplots()
    looks = styles(list(groups))
    scale = _y_axis(axes, plot, drawn)
    size_axis = _x_axis(axes, plot, drawn)
    for word, group in groups.items():
        _series(axes, plot, group, looks[word], scale, size_axis, word)
    if plot.by:
        label, unit = column(plot.by)
        figure.legend(loc="outside lower center", ncols=4, title=f"{label} [{unit}]" if unit else label)
    heading = plot.title or f"{column(plot.y)[0]} against {column(plot.x)[0]}"
    caption = "Dots are measured, lines are the model. " if plot.model else ""
    caption += f"{dropped} further series are in the table only." if dropped else ""
    values = [float(str(row[plot.y])) for row in drawn]
    spread = f"{min(values):.3g} to {max(values):.3g} {column(plot.y)[1]}".rstrip()
    alt = f"{title}: {heading}, {len(drawn)} points from {spread}."
    return Drawing(name, f"{title}: {heading}.", alt, caption, figure)


def _y_axis(axes: Axes, plot: Plot, rows: Sequence[Mapping[str, Cell]]) -> float:
    """Scale the axis to all values; returns the axis's unit in units of the column."""
    label, unit = column(plot.y)
    values = [float(str(row[plot.y])) for row in rows]
    scale = 1.0
    if unit == "s":
        scale, unit = time_unit(max(values))
    elif unit == "B/s":
        scale, unit = rate_unit(max(values))
    axes.set_ylabel(f"{label} [{unit}]" if unit else label)
    if plot.log_y:
        log_axis(axes, min(values) / scale, max(values) / scale)
    else:
        axes.set_ylim(min(0.0, min(values) / scale), 1.08 * max(max(values) / scale, 1e-12))
    return scale


def _x_axis(axes: Axes, plot: Plot, rows: Sequence[Mapping[str, Cell]]) -> SizeAxis | None:
    label, unit = column(plot.x)
    values = np.array([float(str(row[plot.x])) for row in rows])
    if unit == "B" and plot.log_x:
        size_axis = SizeAxis.of([values])
        size_axis.apply(axes, title=label)
        return size_axis
    axes.set_xlabel(f"{label} [{unit}]" if unit else label)
    if plot.log_x:
        axes.set_xscale("symlog" if np.any(values == 0) else "log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    return None


def _series(
    axes: Axes,
    plot: Plot,
    rows: Sequence[Mapping[str, Cell]],
    look: Style,
    scale: float,
    size_axis: SizeAxis | None,
    label: str,
) -> None:
    ordered = sorted(rows, key=lambda row: float(str(row[plot.x])))
    x = np.array([float(str(row[plot.x])) for row in ordered])
    y = np.array([float(str(row[plot.y])) for row in ordered]) / scale
    at = x if size_axis is None else size_axis.position(x)
    if not plot.model:
        axes.plot(at, y, marker=look.marker, label=label, **look.line)
        return
    axes.plot(at, y, marker=look.marker, linestyle="", color=look.colour, label=label)
    model = [row.get(plot.model) for row in ordered]
    if all(isinstance(value, int | float) for value in model):
        axes.plot(at, np.array(model, dtype=np.float64) / scale, linewidth=1.0, **look.line)
