"""Charts drawn by matplotlib, for print and for readers without scripts: the one place that draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from hockney.report.explorer.chart import WIDTH_IN, Array, Axis, Chart, Line, Panel, Tiles
from hockney.report.style import (
    QUIET,
    SizeAxis,
    count_axis,
    drawing_style,
    log_axis,
    plain,
    spread_labels,
    thin_labels,
)
from hockney.units import counted, format_bytes

LEFT_IN, RIGHT_IN, BOTTOM_IN = 1.04, 0.1, 0.5
"""Room for numbers up to `100 000 000` and a title left of the axes, and for numbers and a title below them."""
ROW_IN = 0.19
"""A row of the legend, of a title or of words above a panel."""
LETTER_IN = 0.062
"""The width of a letter of the legend, at most."""
GAP_IN, OWN_IN, MAP_IN = 0.12, 0.85, 0.55
"""Between panels that share their axis of values, have their own, or are maps."""
MOST_IN_KEY = 6
"""Entries of a key beside each other."""
LEGEND_LETTERS = 150
"""Letters of a row of the legend across the page."""
TILE_IN, MOST_TILES_IN = 0.26, 2.3
"""The height of a row of a map, and of a map with many rows."""
KEY_IN = 0.3
"""Between the axes of a map and its key, without the title of the axis."""
BEYOND = 2.0
"""By this factor beyond the data an axis shows their intervals; the rest is cut, and named."""
BAND = "#e8e8e8"


def draw(chart: Chart) -> Figure:
    """The figure, in the report's style.

    Its margins are fixed: matplotlib's own layout measures every number at every tick twice, which takes as long
    as drawing.
    """
    with drawing_style():
        figure = Figure(figsize=(chart.width_in, chart.height_in))
        count = max(map(len, chart.rows))
        ratios = list(chart.widths) or None
        grid = figure.subplots(len(chart.rows), count, squeeze=False, width_ratios=ratios)
        drawn: list[list[tuple[Axes, Panel]]] = []
        for row, panels in zip(grid, chart.rows, strict=True):
            for axes, panel in zip(row, [*panels, *[None] * (count - len(panels))], strict=True):
                axes.set_visible(panel is not None)
            drawn.append([(axes, panel) for axes, panel in zip(row, panels, strict=False) if panel is not None])
        every = [*chain(*drawn)]
        for row_of in drawn:
            spanned = [panel for _, panel in (every if chart.shared == "all" else row_of)]
            for place, (axes, panel) in enumerate(row_of):
                is_led = bool(chart.shared) and place > 0
                _panel(axes, panel, spanned if chart.shared else [panel], is_led=is_led)
        if chart.title:
            figure.suptitle(chart.title, fontsize=9, y=1 - 0.08 / chart.height_in, va="top")
        _lay_out(
            figure,
            chart,
            [panel for _, panel in every],
            _legend(figure, chart, [[axes for axes, _ in row_of] for row_of in drawn]),
        )
        for axes, panel in every:
            thin_labels(axes)
            if panel.tiles is not None:
                thin_labels(axes, 1)
                _key(figure, axes, panel)
    return figure


def _panel(axes: Axes, panel: Panel, spanned: Sequence[Panel], *, is_led: bool) -> None:
    """Draw all of a panel; the axis of values holds those `spanned`. `is_led`: it is the first one's."""
    axes.set_title(panel.title, fontsize=None if "\n" not in panel.title and len(panel.title) < 60 else 8.5)
    if panel.tiles is not None:
        _tiles(axes, panel.tiles)
        axes.set_xlabel(panel.x.title)
        axes.set_ylabel(panel.y.title)
        return
    across = _spanned(panel.x, [_held(panel.x, [line.x for line in panel.lines])])
    sizes = SizeAxis.of([across]) if panel.x.scale == "size" else None
    _scale(axes, "x", panel.x, across, sizes)
    held = [_held(panel.y, [_reach(line, panel.y) for line in panel.lines]) for panel in spanned]
    _scale(axes, "y", panel.y, _spanned(panel.y, held), None)
    if panel.is_square:
        axes.set_xscale("log")
        axes.set_xlim(axes.get_ylim())
        axes.xaxis.set_major_locator(LogLocator(numticks=6))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        ends = np.array(axes.get_ylim())
        axes.plot(ends, ends, color=QUIET, linewidth=0.8, zorder=2)
        if panel.band:
            axes.fill_between(ends, ends * panel.band[0], ends * panel.band[1], color=BAND, linewidth=0, zorder=1)
    elif panel.band:
        axes.axhspan(*panel.band, color="#f1f1f1", zorder=0)
    for line in panel.lines:
        _line(axes, line, panel, sizes)
    _name_cut(axes, panel)
    _marks(axes, panel, sizes)
    if is_led:
        axes.tick_params(labelleft=False)
        axes.set_ylabel("")


def _line(axes: Axes, line: Line, panel: Panel, sizes: SizeAxis | None) -> None:
    at, y = line.x / panel.x.unit if sizes is None else sizes.position(line.x), line.y / panel.y.unit
    if panel.y.scale == "log":
        y = np.where(y > 0, y, np.nan)
    look = line.style
    if sizes is not None and at.size == 1 and not line.dots:
        # One point is no line.
        at, y = at + 0.018 * sizes.span * np.array([-1, 1]), np.repeat(y, 2)
    if sizes is not None and sizes.zero and line.width and line.x.size > 1 and line.x[0] == 0:
        at, y = np.insert(at, 1, np.nan), np.insert(y, 1, np.nan)
    if line.width or line.dots:
        axes.plot(
        at, y, label=line.label or None, color=look.colour, linewidth=line.width,
        linestyle=((0, look.dashes) if look.dashes else "-") if line.width else "",
        marker=look.marker if line.dots else "", markersize=line.dots, alpha=line.opacity, zorder=line.order,
        markerfacecolor="white" if line.is_open else look.colour,
        # Thousands of dots make a file large and slow.
        rasterized=not line.width and at.size > 400,
    )  # fmt: skip
    if line.low is not None and line.high is not None:
        value, unit = (line.x, panel.x.unit) if line.is_across else (line.y, panel.y.unit)
        # A table's interval need not hold its time.
        reach = np.nan_to_num(np.maximum(np.vstack([value - line.low, line.high - value]), 0.0)) / unit
        if reach.any():
            at = line.x / panel.x.unit if sizes is None else sizes.position(line.x)
            axes.errorbar(
                at, line.y / panel.y.unit, yerr=None if line.is_across else reach,
                xerr=reach if line.is_across else None, fmt="none", ecolor=look.colour, elinewidth=0.9,
                alpha=line.opacity, zorder=line.order,
            )  # fmt: skip


def _reach(line: Line, axis: Axis) -> Array:
    """What an axis of values has to hold of a line: its values, and of its intervals what is near to these.

    An interval of some decades, of a point that was disturbed, would flatten all others.
    """
    known = line.y[np.isfinite(line.y) & ((axis.scale != "log") | (line.y > 0))]
    if line.low is None or line.high is None or line.is_across or not known.size:
        return line.y
    least, most = known.min(), known.max()
    return np.concatenate([known, np.maximum(line.low, least / BEYOND), np.minimum(line.high, most * BEYOND)])


def _name_cut(axes: Axes, panel: Panel) -> None:
    """Say how many intervals the frame cuts, and the widest of them."""
    low, high = (end * panel.y.unit for end in axes.get_ylim())
    cut = [
        (line.high[at] - line.low[at], line.x[at], line.low[at], line.high[at])
        for line in panel.lines
        if line.low is not None and line.high is not None and not line.is_across
        for at in np.flatnonzero((line.low < low) | (line.high > high))
    ]
    if cut:
        _, at, *ends = max(cut)
        place = format_bytes(at) if panel.x.scale == "size" else f"{at:g}"
        first, last = (plain(float(f"{end / panel.y.unit:.2g}")) for end in ends)
        count = f"{counted(len(cut), 'interval')} leave" if len(cut) > 1 else "1 interval leaves"
        text = f"{count} the frame, at most\n{first} … {last} at {place}"
        axes.text(0.015, 0.985, text, transform=axes.transAxes, va="top", fontsize=6.5, color=QUIET, zorder=9)


def _held(axis: Axis, drawn: Sequence[Array]) -> Array:
    """What an axis has to hold of one panel."""
    return axis.values if axis.values is not None else np.concatenate([np.zeros(0), *drawn])


def _spanned(axis: Axis, held: Sequence[Array]) -> Array:
    """What an axis has to hold, in its unit; 1 where that is nothing."""
    values = np.concatenate(held)
    known = values[np.isfinite(values) & ((axis.scale not in ("log", "counts")) | (values > 0))] / axis.unit
    return known if known.size else np.ones(1)


def _scale(axes: Axes, which: str, axis: Axis, values: Array, sizes: SizeAxis | None) -> None:
    """Give an axis its scale, ends, ticks and title."""
    low, high = float(values.min()), float(values.max())
    own = axes.xaxis if which == "x" else axes.yaxis
    limit = axes.set_xlim if which == "x" else axes.set_ylim
    if sizes is not None:
        sizes.apply(axes, axis.title)
        return
    if axis.scale == "counts":
        count_axis(axes, values, axis.title)
        return
    if axis.scale == "log" and which == "y":
        log_axis(axes, low, high)
    elif axis.scale == "log":
        axes.set_xscale("symlog" if low == 0 else "log", base=2)
        own.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        own.set_minor_locator(NullLocator())
    elif axis.scale == "from_0":
        limit(min(0.0, low), 1.08 * high if high > 0 else 1.0)
    elif axis.scale == "whole":
        limit(0, 1.02 * high)
        own.set_major_locator(MaxNLocator(integer=True))
    elif axis.scale == "percent":
        _percent(axes, low, high)
    elif axis.scale == "names":
        own.set_major_locator(FixedLocator([float(at) for at in range(len(axis.names))]))
        own.set_major_formatter(FuncFormatter(lambda at, _: axis.names[round(at)]))
        limit(len(axis.names) - 0.5, -0.5)
    elif axis.values is not None:
        limit(low, high)
    own.set_label_text(axis.title)


def _percent(axes: Axes, low: float, high: float) -> None:
    """Scale the y axis in per cent from `low` to `high`, at least ±10: linear within ±1, logarithmic beyond."""
    axes.set_yscale("symlog", linthresh=1, linscale=0.6)
    bottom, top = 1.6 * min(low, -10.0), 1.6 * max(high, 10.0)
    axes.set_ylim(bottom, top)
    powers = [10.0**e for e in range(12)]
    ticks = [t for t in [-p for p in powers] + [0.0] + powers if bottom <= t <= top]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:+,.0f} %".replace(",", " ").replace("-", "−") if value else "0")
    )
    axes.yaxis.set_minor_locator(NullLocator())


def _marks(axes: Axes, panel: Panel, sizes: SizeAxis | None) -> None:
    """Lines across, with their words."""
    unit = panel.x.unit
    above = [mark for mark in panel.marks if mark.text and mark.place == "above" and not mark.is_level]
    left, right = axes.get_xlim()
    position = (lambda mark: float(sizes.position([mark.at])[0])) if sizes else (lambda mark: mark.at / unit)
    # A letter of this size is about a hundredth of a panel wide.
    widths = [(right - left) * (0.011 * len(mark.text) + 0.02) for mark in above]
    rows = dict(zip(map(id, above), spread_labels([position(mark) for mark in above], widths), strict=True))
    for mark in panel.marks:
        look: Any = {"color": mark.style.colour, "linewidth": mark.width, "zorder": 1.0}
        dashes = (0, mark.style.dashes) if mark.style.dashes else "-"
        if mark.is_level:
            level = mark.at / panel.y.unit
            axes.axhline(level, *mark.reach, linestyle=dashes, **look)
            is_begun = mark.place != "end"
            axes.text(
                max(mark.reach[0], 0.0) + 0.01 if is_begun else min(mark.reach[1], 1.0) - 0.01, level, mark.text,
                transform=axes.get_yaxis_transform(), ha="left" if is_begun else "right", va="bottom",
                fontsize=7.5, color="#333333",
            )  # fmt: skip
            continue
        at = position(mark)
        axes.axvline(at, linestyle=dashes, **look)
        if id(mark) in rows:
            axes.text(
                at, 1.01 + 0.055 * rows[id(mark)], mark.text, transform=axes.get_xaxis_transform(), ha="center",
                va="bottom", fontsize=7, color=QUIET,
            )  # fmt: skip
        elif mark.text:
            is_top = mark.place == "top"
            axes.text(
                at, 0.99 if is_top else 0.02, mark.text, transform=axes.get_xaxis_transform(), rotation=90,
                va="top" if is_top else "bottom", ha="right", fontsize=7 if is_top else 6, color=QUIET,
            )  # fmt: skip


def _tiles(axes: Axes, tiles: Tiles) -> None:
    """One pixel for each cell, in equal steps."""
    axes.imshow(tiles.colours, origin="lower", aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    axes.set_xticks(range(len(tiles.columns)), tiles.columns)
    axes.set_yticks(range(len(tiles.rows)), tiles.rows)
    for (row, column), word in tiles.words.items():
        is_dark = float(np.mean(tiles.colours[row, column])) < 0.45
        axes.text(
            column, row, word, ha="center", va="center", fontsize=6.5, color="white" if is_dark else "black"
        )


def _legend(figure: Figure, chart: Chart, rows: Sequence[Sequence[Axes]]) -> int:
    """The legend of all lines with a label, and how many rows it has; at the right each row's own."""
    if chart.legend == "right":
        for row in rows:
            if handles := _handles(row):
                row[-1].legend([*handles.values()], [*handles], loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return 0
    handles = _handles([*chain(*rows)])
    if not handles or chart.legend == "none":
        return 0
    columns = _columns([*handles], LEGEND_LETTERS * chart.width_in / WIDTH_IN, chart.columns)
    figure.legend(
        [*handles.values()], [*handles], loc="lower center", ncols=columns, borderaxespad=0.3, handlelength=3.2,
        title=chart.legend_title or None,
    )  # fmt: skip
    return -(-len(handles) // columns) + bool(chart.legend_title)


def _columns(labels: Sequence[str], letters: float, most: int) -> int:
    """As many columns as so many letters have room for."""
    counts = range(min(most, len(labels)), 1, -1)
    return next((count for count in counts if _letters(labels, count) <= letters), 1)


def _key(figure: Figure, axes: Axes, panel: Panel) -> None:
    """The colours of a map in words, below it."""
    if panel.key:
        patches = [Patch(facecolor=colour, edgecolor="#b8b8b8", label=name) for name, colour in panel.key.items()]
        below_in = KEY_IN + ROW_IN * bool(panel.x.title)
        at = LEFT_IN / figure.get_figwidth(), axes.get_position().y0 - below_in / figure.get_figheight()
        figure.legend(
            handles=patches, loc="upper left", title=panel.key_title, alignment="left", borderpad=0,
            ncols=_columns([*panel.key], LEGEND_LETTERS, MOST_IN_KEY), handlelength=1.4, borderaxespad=0,
            bbox_to_anchor=at,
        )  # fmt: skip


def _key_in(panel: Panel) -> float:
    """The height of a key, of which the title is one row."""
    rows = -(-len(panel.key) // _columns([*panel.key], LEGEND_LETTERS, MOST_IN_KEY)) if panel.key else -1
    return ROW_IN * (rows + 1)


def _letters(labels: Sequence[str], columns: int) -> int:
    """Letters beside each other in so many columns, each filled from its top."""
    rows = -(-len(labels) // columns)
    return sum(max(map(len, labels[at : at + rows])) + 10 for at in range(0, len(labels), rows))


def _handles(panels: Sequence[Axes]) -> dict[str, Artist]:
    """One line for each label."""
    handles: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return handles


def _lay_out(figure: Figure, chart: Chart, panels: Sequence[Panel], legend_rows: int) -> None:
    """Set the margins, inches: what stands beside the panels decides."""
    is_right = chart.legend == "right"
    beside = _longest([line.label for panel in panels for line in panel.lines]) + 0.6 if is_right else 0.0
    names = [len(name) for panel in panels for name in (panel.y.names if panel.y.scale == "names" else ())]
    left = LEFT_IN if not names else LETTER_IN * max(names) + 0.45
    right = RIGHT_IN + beside
    legend_in = 0.0 if not legend_rows else ROW_IN * legend_rows + 0.1
    titles = [panel.title.count("\n") + bool(panel.title) for panel in panels]
    above = [mark for panel in panels for mark in panel.marks if mark.place == "above" and mark.text]
    top = 0.1 + 0.16 * max(titles) + 0.22 * bool(chart.title) + 0.24 * bool(above)
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    lower = [panel for row in chart.rows[:-1] for panel in row if panel]
    gap = GAP_IN if chart.shared else MAP_IN if any(panel.tiles for panel in panels) else OWN_IN
    gaps = gap, 0.4 if lower and not lower[0].x.title else 0.52 + 0.17 * max(titles[columns:], default=0)
    if tiles := [len(panel.tiles.rows) for panel in panels if panel.tiles is not None]:
        keys_in = [max(_key_in(panel) for panel in row if panel) for row in chart.rows]
        gaps, legend_in = (gaps[0], gaps[1] + max(keys_in[:-1], default=0.0)), keys_in[-1]
        high_in = (
            min(TILE_IN * max(tiles), MOST_TILES_IN) * rows + top + BOTTOM_IN + legend_in + (rows - 1) * gaps[1]
        )
        figure.set_figheight(high_in)
    height_in = figure.get_figheight()
    inside = (
        (chart.width_in - left - right - (columns - 1) * gaps[0]) / columns,
        (height_in - top - BOTTOM_IN - legend_in - (rows - 1) * gaps[1]) / rows,
    )
    figure.subplots_adjust(
        left=left / chart.width_in,
        right=1 - right / chart.width_in,
        bottom=(BOTTOM_IN + legend_in) / height_in,
        top=1 - top / height_in,
        wspace=gaps[0] / inside[0],
        hspace=gaps[1] / inside[1],
    )


def _longest(words: Iterable[str]) -> float:
    return LETTER_IN * max(map(len, words), default=0)
