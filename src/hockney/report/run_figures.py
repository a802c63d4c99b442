"""Figures of an application's runs: time against ranks and against process grids, measured beside predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import NOTHING, Axis, Chart, Line, Mark, Panel
from hockney.report.run_tables import ReportedRun
from hockney.report.style import QUIET, Style, styles, time_unit
from hockney.units import format_time, grouped

MOST_SERIES = 8
"""Most series in one figure, those with the most runs."""
MOST_GRIDS = 24
"""Most process grids in one figure, the fastest."""


def figures(name: str, title: str, unit: str, runs: Sequence[ReportedRun]) -> list[Drawing]:
    """A figure against ranks if runs differ in them, and against grids if one number of ranks has several.

    Runs without any time (simulations without costs) are not drawn.
    """
    timed = [run for run in runs if run.time_s > 0]
    drawings = []
    if len({run.record.ranks for run in timed}) > 1:
        drawings.append(_against_ranks(name, title, unit, timed))
    groups = grouped(timed, lambda run: (run.series, run.record.ranks))
    widest = max(groups.values(), key=lambda group: len({run.grid for run in group}), default=[])
    if len({run.grid for run in widest}) > 1:
        drawings.append(_against_grids(name, title, unit, widest))
    return drawings


def _against_ranks(name: str, title: str, unit: str, runs: Sequence[ReportedRun]) -> Drawing:
    """Measured times as dots with intervals, predicted times as dotted lines, and errors at the right."""
    by_series = grouped(runs, lambda run: run.series)
    total = len(by_series)
    drawn = sorted(by_series, key=lambda series: -len(by_series[series]))[:MOST_SERIES]
    by_series = {series: by_series[series] for series in by_series if series in drawn}
    every = [run for group in by_series.values() for run in group]
    is_predicted = any(run.predicted_s is not None for run in every)
    x = Axis("ranks", "counts")
    times, errors = [], []
    for (series, group), look in zip(by_series.items(), styles(list(by_series)).values(), strict=True):
        fastest = _fastest(group)
        times += [_dots("", group, look), replace(_dots(series, fastest, look), low=None, high=None, width=1.2)]
        foretold = [run for run in fastest if run.predicted_s is not None]
        if foretold:
            dotted = Style(look.colour, (1.2, 1.4), "x")
            times.append(Line("", _ranks(foretold), _predicted_s(foretold), style=dotted, dots=4.5, order=6))
        known = [run for run in group if run.error is not None]
        missed = np.array([100 * (run.error or 0.0) for run in known])
        errors.append(Line("", _ranks(known), missed, style=look, width=0, dots=4.2))
    axis = _time_axis(unit, every)
    panels = [Panel(times, x, axis)]
    if is_predicted:
        times.append(Line("predicted", NOTHING, NOTHING, style=Style(QUIET, (1.2, 1.4), "x"), dots=4.5))
        zero = Mark(0.0, style=Style(QUIET, (), ""), width=0.9, is_level=True)
        of_error = Axis("(predicted − measured) / measured [%]", "linear")
        panels.append(Panel(errors, replace(x, values=_ranks(every)), of_error, marks=[zero]))
    caption = "Dots are medians with 95 % intervals; lines join the fastest run of each number of ranks."
    caption += " Crosses are predictions, for runs that the machine file covers." if is_predicted else ""
    caption += f" {total - MOST_SERIES} further series are in the table only." if total > MOST_SERIES else ""
    chart = Chart([panels], 3.9, widths=(3, 2)[: len(panels)])
    alt = f"{title}: time of {unit} against the number of ranks. {_in_words(every)}"
    return Drawing(f"app-{name}-ranks", f"{title}: against ranks.", alt, caption, chart)


def _against_grids(name: str, title: str, unit: str, runs: Sequence[ReportedRun]) -> Drawing:
    """Runs on one number of ranks, the fastest grid at the top: dots are measured, crosses predicted."""
    ordered = sorted(runs, key=lambda run: run.time_s)
    drawn = ordered[:MOST_GRIDS]
    is_predicted = any(run.predicted_s is not None for run in drawn)
    (look,) = styles(["measured"]).values()
    at = np.arange(float(len(drawn)))
    measured = _dots("measured", drawn, look)
    lines = [replace(measured, x=measured.y, y=at, is_across=True)]
    if is_predicted:
        crosses = Style(QUIET, (), "x")
        lines.append(Line("predicted", _predicted_s(drawn), at, style=crosses, width=0, dots=5.0, order=4))
    x = _time_axis(unit, drawn)
    rows = [
        [
            Panel(
                lines,
                replace(x, scale="linear"),
                Axis("process grid", "names", names=[run.grid for run in drawn]),
            )
        ]
    ]
    chart = Chart(rows, 1.3 + 0.19 * len(drawn), legend="right" if is_predicted else "none")
    of_all = (
        f"the fastest {MOST_GRIDS} of {len(ordered)}" if len(ordered) > MOST_GRIDS else f"{len(ordered)} runs"
    )
    where = f"{title} on {ordered[0].record.ranks} ranks"
    caption = f"{ordered[0].series}: {of_all}. Bars are 95 % intervals."
    alt = f"{where}: time of {unit} on each process grid. {_in_words(drawn)}"
    return Drawing(f"app-{name}-grids", f"{where}: process grids.", alt, caption, chart)


def _fastest(group: Sequence[ReportedRun]) -> list[ReportedRun]:
    """The fastest run on each number of ranks, in ascending order of ranks."""
    on_ranks = grouped(group, lambda run: run.record.ranks)
    return [min(on_ranks[ranks], key=lambda run: run.time_s) for ranks in sorted(on_ranks)]


def _dots(label: str, group: Sequence[ReportedRun], look: Style) -> Line:
    """Medians of runs with their intervals."""
    ends = ([np.nan if end is None else end for end in (run.low_s, run.high_s)] for run in group)
    low_s, high_s = np.array([*ends], dtype=np.float64).T
    return Line(label, _ranks(group), np.array([run.time_s for run in group]), low_s, high_s, look, 0.0, 3.8)


def _ranks(group: Sequence[ReportedRun]) -> NDArray[np.float64]:
    return np.array([run.record.ranks for run in group], dtype=np.float64)


def _predicted_s(group: Sequence[ReportedRun]) -> NDArray[np.float64]:
    return np.array([np.nan if run.predicted_s is None else run.predicted_s for run in group])


def _time_axis(unit: str, runs: Sequence[ReportedRun]) -> Axis:
    """A logarithmic axis of times, in a unit in which they read well."""
    scale, name = time_unit(max(value for run in runs for value in (run.time_s, run.predicted_s) if value))
    return Axis(f"time of {unit} ({name})", "log", scale)


def _in_words(runs: Sequence[ReportedRun]) -> str:
    """The fastest and the slowest run, for a reader who does not see the figure."""
    fastest, slowest = min(runs, key=lambda run: run.time_s), max(runs, key=lambda run: run.time_s)
    return (
        f"From {format_time(fastest.time_s)} on {fastest.record.ranks} ranks to {format_time(slowest.time_s)} "
        f"on {slowest.record.ranks}."
    )
