"""Figures of an application's runs: time against ranks and against process grids, measured beside predicted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hockney.report.axes import count_axis, log_axis, time_unit
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.run_tables import ReportedRun
from hockney.report.style import QUIET, Style, styles
from hockney.units import format_time

MOST_SERIES = 8
"""Most series in one figure, those with the most runs."""
MOST_GRIDS = 24
"""Most process grids in one figure, the fastest."""
LETTERS = 150
"""Characters of a line of the legend."""


def figures(name: str, title: str, unit: str, runs: Sequence[ReportedRun]) -> list[Drawing]:
    """A figure against ranks if runs differ in them, and against grids if one number of ranks has several.

    Runs without any time (simulations without costs) are not drawn.
    """
    timed = [run for run in runs if run.time_s > 0]
    drawings = []
    if len({run.record.ranks for run in timed}) > 1:
        drawings.append(_against_ranks(name, title, unit, timed))
    groups: dict[tuple[str, int], list[ReportedRun]] = {}
    for run in timed:
        groups.setdefault((run.series, run.record.ranks), []).append(run)
    widest = max(groups.values(), key=lambda group: len({run.grid for run in group}), default=[])
    if len({run.grid for run in widest}) > 1:
        drawings.append(_against_grids(name, title, unit, widest))
    return drawings


def _against_ranks(name: str, title: str, unit: str, runs: Sequence[ReportedRun]) -> Drawing:
    """Measured times as dots with intervals, predicted times as dotted lines, and errors at the right."""
    by_series: dict[str, list[ReportedRun]] = {}
    for run in runs:
        by_series.setdefault(run.series, []).append(run)
    total = len(by_series)
    drawn = sorted(by_series, key=lambda series: -len(by_series[series]))[:MOST_SERIES]
    by_series = {series: by_series[series] for series in by_series if series in drawn}
    every = [run for group in by_series.values() for run in group]
    is_predicted = any(run.predicted_s is not None for run in every)
    figure = Figure(figsize=(WIDTH_IN, 3.9), layout="constrained")
    panels = list(figure.subplots(1, 2, width_ratios=(3, 2))) if is_predicted else [figure.subplots()]
    looks = styles(list(by_series))
    scale, unit_name = _seconds_axis(panels[0], every)
    for series, group in by_series.items():
        _measured(panels[0], series, group, looks[series], scale)
        if is_predicted:
            _predicted(panels[0], panels[1], group, looks[series], scale)
    if is_predicted:
        panels[0].plot([], [], "x:", color=QUIET, linewidth=1.6, label="predicted")
        panels[1].axhline(0.0, color=QUIET, linewidth=0.9)
        panels[1].set_ylabel("(predicted − measured) / measured [%]")
    panels[0].set_ylabel(f"time of {unit} [{unit_name}]")
    for axes in panels:
        count_axis(axes, [run.record.ranks for run in every], "ranks")
    handles, labels = panels[0].get_legend_handles_labels()
    columns = max(1, min(len(labels), LETTERS // (max(map(len, labels)) + 8)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    caption = "Dots are medians with 95 % intervals; lines join the fastest run of each number of ranks."
    caption += " Crosses are predictions, for runs that the machine file covers." if is_predicted else ""
    caption += f" {total - MOST_SERIES} further series are in the table only." if total > MOST_SERIES else ""
    alt = f"{title}: time of {unit} against the number of ranks. {_in_words(every)}"
    return Drawing(f"app-{name}-ranks", f"{title}: against ranks.", alt, caption, figure)


def _against_grids(name: str, title: str, unit: str, runs: Sequence[ReportedRun]) -> Drawing:
    """Runs on one number of ranks, the fastest grid at the top: dots are measured, crosses predicted."""
    ordered = sorted(runs, key=lambda run: run.time_s)
    drawn = ordered[:MOST_GRIDS]
    is_predicted = any(run.predicted_s is not None for run in drawn)
    figure = Figure(figsize=(WIDTH_IN, 1.3 + 0.19 * len(drawn)), layout="constrained")
    axes = figure.subplots()
    seconds = [value for run in drawn for value in (run.low_s, run.high_s, run.time_s, run.predicted_s) if value]
    scale, unit_name = time_unit(max(seconds))
    at = np.arange(len(drawn))
    (look,) = styles(["measured"]).values()
    axes.errorbar(
        [run.time_s / scale for run in drawn], at, xerr=_spread(drawn) / scale, fmt=look.marker,
        color=look.colour, elinewidth=1.0, capsize=2.0, label="measured", zorder=5,
    )  # fmt: skip
    if is_predicted:
        predicted = [np.nan if run.predicted_s is None else run.predicted_s / scale for run in drawn]
        axes.plot(predicted, at, "x", color=QUIET, markersize=5, label="predicted", zorder=4)
        figure.legend(loc="outside right upper")
    axes.set_yticks(at, [run.grid for run in drawn])
    axes.invert_yaxis()
    axes.set_ylabel("process grid")
    axes.set_xlabel(f"time of {unit} [{unit_name}]")
    of_all = (
        f"the fastest {MOST_GRIDS} of {len(ordered)}" if len(ordered) > MOST_GRIDS else f"{len(ordered)} runs"
    )
    where = f"{title} on {ordered[0].record.ranks} ranks"
    caption = f"{ordered[0].series}: {of_all}. Bars are 95 % intervals."
    alt = f"{where}: time of {unit} on each process grid. {_in_words(drawn)}"
    return Drawing(f"app-{name}-grids", f"{where}: process grids.", alt, caption, figure)


def _seconds_axis(axes: Axes, runs: Sequence[ReportedRun]) -> tuple[float, str]:
    """Scale the y axis to all times; returns the seconds of its unit, and the unit."""
    seconds = [value for run in runs for value in (run.low_s, run.high_s, run.time_s, run.predicted_s) if value]
    scale, unit_name = time_unit(max(seconds))
    log_axis(axes, min(seconds) / scale, max(seconds) / scale)
    return scale, unit_name


def _measured(axes: Axes, series: str, group: Sequence[ReportedRun], look: Style, scale: float) -> None:
    axes.errorbar(
        [run.record.ranks for run in group], [run.time_s / scale for run in group], yerr=_spread(group) / scale,
        fmt=look.marker, color=look.colour, markersize=3.8, elinewidth=1.0, capsize=2.0, zorder=5,
    )  # fmt: skip
    fastest = _fastest(group)
    axes.plot(
        [run.record.ranks for run in fastest], [run.time_s / scale for run in fastest],
        marker=look.marker, markersize=3.8, linewidth=1.2, label=series, color=look.colour,
    )  # fmt: skip


def _predicted(times: Axes, errors: Axes, group: Sequence[ReportedRun], look: Style, scale: float) -> None:
    """Draw predicted times of the runs that a line joins, and the errors of all runs."""
    fastest = [run for run in _fastest(group) if run.predicted_s is not None]
    times.plot(
        [run.record.ranks for run in fastest], [(run.predicted_s or 0.0) / scale for run in fastest],
        color=look.colour, linestyle=":", linewidth=1.6, marker="x", markersize=4.5, zorder=6,
    )  # fmt: skip
    known = [run for run in group if run.error is not None]
    errors.plot(
        [run.record.ranks for run in known], [100 * (run.error or 0.0) for run in known],
        linestyle="", marker=look.marker, color=look.colour, markersize=4.2,
    )  # fmt: skip


def _fastest(group: Sequence[ReportedRun]) -> list[ReportedRun]:
    """The fastest run on each number of ranks, in ascending order of ranks."""
    best: dict[int, ReportedRun] = {}
    for run in group:
        if run.record.ranks not in best or run.time_s < best[run.record.ranks].time_s:
            best[run.record.ranks] = run
    return [best[ranks] for ranks in sorted(best)]


def _spread(group: Sequence[ReportedRun]) -> NDArray[np.float64]:
    """Seconds below and above the medians, shape (2, runs); 0 if the bound is not known."""
    low = [run.time_s - run.low_s if run.low_s is not None else 0.0 for run in group]
    high = [run.high_s - run.time_s if run.high_s is not None else 0.0 for run in group]
    return np.maximum(np.array([low, high], dtype=np.float64), 0.0)


def _in_words(runs: Sequence[ReportedRun]) -> str:
    """The fastest and the slowest run, for a reader who does not see the figure."""
    fastest, slowest = min(runs, key=lambda run: run.time_s), max(runs, key=lambda run: run.time_s)
    return (
        f"From {format_time(fastest.time_s)} on {fastest.record.ranks} ranks to {format_time(slowest.time_s)} "
        f"on {slowest.record.ranks}."
    )
