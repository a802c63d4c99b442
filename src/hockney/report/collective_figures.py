"""Figures of collectives: time against size for each algorithm, time against ranks for each allocation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hockney.analyse.choice import DEFAULT
from hockney.analyse.jumps import Jump
from hockney.report.axes import SizeAxis, log_axis
from hockney.report.figures import WIDTH_IN, Drawing
from hockney.report.style import QUIET, Style, styles
from hockney.units import format_bytes

CLEAREST = 2
"""Jumps drawn for each curve; the table has all."""
NAMED = 8
"""Algorithms drawn in colour: those that are fastest somewhere; all others are thin and grey."""
DEFAULT_STYLE = Style("#000000", (4, 1.5), "x")


def against_size(operation: str, measured: pd.DataFrame, ranks: int) -> Drawing:
    """Time against size on `ranks` ranks, one panel; the default and the winners stand out."""
    rows = measured[measured["ranks"].fillna(0) == ranks]
    # Several allocations: the one with the most algorithms is drawn.
    mapping = str(rows.groupby("mapping")["label"].nunique().idxmax())
    rows = rows[(rows["mapping"] == mapping) & (rows["bytes"] > 0)]
    curves = {str(label): group.groupby("bytes")["time_s"].min() for label, group in rows.groupby("label")}
    named = _winners(curves)
    look = styles(named)
    figure = Figure(figsize=(WIDTH_IN, 4.6), layout="constrained")
    axes = figure.subplots()
    size_axis = SizeAxis.of([curve.index.to_numpy(np.float64) for curve in curves.values()])
    grey = False
    for label, curve in curves.items():
        at = size_axis.position(curve.index.to_numpy(np.float64))
        time_us = curve.to_numpy(np.float64) * 1e6
        if label == DEFAULT:
            axes.plot(at, time_us, label="default (the library's choice)", zorder=5, **_line(DEFAULT_STYLE))
        elif label in look:
            axes.plot(at, time_us, label=label, zorder=4, **_line(look[label]))
        else:
            axes.plot(
                at, time_us, color=QUIET, linewidth=0.6, alpha=0.6, label="" if grey else "others", zorder=2
            )
            grey = True
    size_axis.apply(axes, title="vector" if operation in ("bcast", "reduce", "allreduce") else "block of a rank")
    times = np.concatenate([curve.to_numpy(np.float64) for curve in curves.values()]) * 1e6
    log_axis(axes, float(times.min()), float(times.max()))
    axes.set_ylabel("time in µs")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    where = f"{ranks} ranks" + (f", allocation {mapping}" if mapping else "")
    return Drawing(
        f"{operation}-against-size",
        f"{operation} by algorithm, {where}.",
        f"{operation} on {where}: time against size for {len(curves)} algorithms",
        "Coloured: algorithms that are the fastest at some size.",
        figure,
    )


def _winners(curves: Mapping[str, pd.Series]) -> list[str]:
    """The algorithms that are fastest somewhere, most often first."""
    table = pd.DataFrame({label: curve for label, curve in curves.items() if label != DEFAULT})
    wins = table.idxmin(axis="columns").value_counts()
    return [str(label) for label in wins.index[:NAMED]]


def _line(style: Style) -> dict[str, Any]:
    return {"color": style.colour, "dashes": style.dashes or (None, None), "marker": style.marker}


def against_ranks(
    operation: str, measured: pd.DataFrame, size_B: int, broken: Mapping[tuple[str, str], Sequence[Jump]]
) -> Drawing:
    """Time against ranks at one size, one panel for each allocation; jumps as dotted lines."""
    rows = measured[measured["bytes"] == size_B]
    # The allocations with most curves and rank counts, at most three of them.
    width = rows.drop_duplicates(["mapping", "label", "ranks"]).groupby("mapping").size()
    mappings = sorted(str(name) for name in width.sort_values(ascending=False).index[:3])
    labels = sorted(str(name) for name in rows["label"].unique())
    look = styles([label for label in labels if label != DEFAULT])
    look = {**look, **({DEFAULT: DEFAULT_STYLE} if DEFAULT in labels else {})}
    figure = Figure(figsize=(WIDTH_IN, 4.2), layout="constrained")
    panels = np.atleast_1d(np.asarray(figure.subplots(1, len(mappings), sharey=True)))
    times = rows["time_s"].to_numpy(np.float64) * 1e6
    for panel, mapping in zip(panels, mappings, strict=True):
        _panel(
            panel, rows[rows["mapping"] == mapping], look, {k: v for k, v in broken.items() if k[0] == mapping}
        )
        panel.set_title(f"allocation {mapping}" if mapping else "")
        panel.set_xlabel("ranks")
    log_axis(panels[0], float(times.min()), float(times.max()))
    panels[0].set_ylabel("time in µs")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5)
    return Drawing(
        f"{operation}-against-ranks-{size_B}",
        f"{operation} of {format_bytes(size_B)} against the number of ranks.",
        f"{operation} of {format_bytes(size_B)}: time against ranks for {', '.join(labels)}",
        "Dotted lines: the clearest jumps, in the colour of their curve.",
        figure,
    )


def _panel(
    axes: Axes, rows: pd.DataFrame, look: Mapping[str, Style], broken: Mapping[tuple[str, str], Sequence[Jump]]
) -> None:
    for label, group in rows.groupby("label", sort=True):
        style = look[str(label)]
        curve = group.groupby("ranks")["time_s"].median()
        marker: dict[str, Any] = {"marker": style.marker} if len(curve) <= 40 else {}
        axes.plot(
            curve.index.to_numpy(np.float64),
            curve.to_numpy(np.float64) * 1e6,
            color=style.colour,
            dashes=style.dashes or (None, None),
            label=str(label),
            **marker,
        )
    for (_, label), found in broken.items():
        for jump in sorted(found, key=lambda jump: jump.p_value)[:CLEAREST] if label in look else ():
            axes.axvline((jump.before + jump.after) / 2, color=look[label].colour, linestyle=":", linewidth=0.9)
