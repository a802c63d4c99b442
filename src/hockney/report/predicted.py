"""Predicted against measured times of a collective, one panel for each estimator, a colour for each algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.predict.accuracy import errors
from hockney.predict.estimators.base import Prediction
from hockney.report.axes import log_axis, plain
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.drawn import write_drawing
from hockney.report.marks import percent
from hockney.report.style import QUIET, Looks, Style

COLUMNS = 3
NAMED = 10
"""Most algorithms with a colour of their own, those with most points; all others are grey."""
BAND = 0.1
WITH_INTERVALS = 400
"""Most points with bars; more would hide each other's bars."""
OTHERS = Style(QUIET, (), ".")


def predicted(
    operation: str, test: pd.DataFrame, predictions: Mapping[str, Prediction], looks: Looks | None = None
) -> Drawing:
    """A panel for each estimator: predicted against measured time of the test points that it predicts.

    Axes are logarithmic and the same in all panels; the line is equality, the band ±10 %. Open symbols lie
    beyond the frame. `looks` are those of the page. Up to `WITH_INTERVALS` points have their 95 % intervals.
    RequestError if no estimator predicts anything.
    """
    measured_us = test["time_s"].to_numpy(np.float64) * 1e6
    drawn = {name: prediction for name, prediction in predictions.items() if np.isfinite(prediction.time_s).any()}
    if not drawn:
        raise RequestError(
            "there is no prediction to draw", "choose other models, or test points that they can predict"
        )
    algorithm = test["algorithm"].to_numpy(dtype=object)
    look = (looks or Looks()).of([str(name) for name in test["algorithm"].value_counts().index[:NAMED]])
    columns = min(COLUMNS, len(drawn))
    rows = -(-len(drawn) // columns)
    figure = Figure(figsize=(WIDTH_IN * columns / COLUMNS, 0.7 + 3.5 * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    low, high = float(measured_us.min()), float(measured_us.max())
    words = []
    for axes, (name, prediction) in zip(panels, drawn.items(), strict=False):
        _frame(axes, low, high)
        for label in dict.fromkeys([*look, *algorithm]):
            mask = (algorithm == label) & np.isfinite(prediction.time_s)
            style = look.get(label, OTHERS)
            if len(test) <= WITH_INTERVALS:
                _intervals(
                    axes, measured_us[mask], prediction.low_s[mask] * 1e6, prediction.high_s[mask] * 1e6, style
                )
            _points(axes, measured_us[mask], prediction.time_s[mask] * 1e6, style)
        numbers = errors(prediction, test["time_s"].to_numpy(np.float64))
        median, p95 = (
            percent(part or 0.0) for part in (numbers.median_relative_error, numbers.p95_relative_error)
        )
        covered = numbers.coverage_95
        coverage = "no intervals" if covered is None else f"{percent(covered)} in their 95 % interval"
        failed = f", {numbers.failed} not predicted" if numbers.failed else ""
        axes.set_xlabel("measured (µs)")
        axes.set_title(f"{name}\nerror: median {median}, P95 {p95}\n{coverage}{failed}", fontsize=8.5)
        words.append(f"{name} median {median} and P95 {p95}, {coverage}{failed}")
    for axes in panels[len(drawn) :]:
        axes.set_visible(False)
    for axes in panels[::columns]:
        axes.set_ylabel("predicted (µs)")
    _legend(figure, look, len(set(algorithm)), 2 * columns)
    return Drawing(
        f"{operation}-predicted",
        f"{operation}: predicted against measured.",
        f"{operation}: predicted against measured time of {len(test)} points the models have not seen. "
        f"Error: {'; '.join(words)}.",
        "The line is equality, the band ±10 %. Open symbols lie beyond the frame."
        + (" Bars are 95 % intervals of the predictions." if len(test) <= WITH_INTERVALS else ""),
        figure,
    )


def _frame(axes: Axes, low_us: float, high_us: float) -> None:
    log_axis(axes, low_us / 1.5, high_us * 1.5)
    axes.set_xscale("log")
    axes.set_xlim(axes.get_ylim())
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    ends = np.array(axes.get_ylim())
    axes.fill_between(ends, ends * (1 - BAND), ends * (1 + BAND), color="#e3e3e3", linewidth=0, zorder=1)
    axes.plot(ends, ends, color=QUIET, linewidth=0.8, zorder=2)


def _intervals(
    axes: Axes,
    measured_us: NDArray[np.float64],
    low_us: NDArray[np.float64],
    high_us: NDArray[np.float64],
    style: Style,
) -> None:
    known = np.isfinite(low_us) & np.isfinite(high_us)
    low, high = (np.clip(bound_us[known], *axes.get_ylim()) for bound_us in (low_us, high_us))
    axes.vlines(measured_us[known], low, high, colors=style.colour, alpha=0.35, linewidth=0.6, zorder=2.5)


def _points(axes: Axes, measured_us: NDArray[np.float64], time_us: NDArray[np.float64], style: Style) -> None:
    bottom, top = axes.get_ylim()
    # A prediction that is not positive has no place on a logarithmic axis: it stands at the lower edge.
    inside = np.clip(time_us, bottom * 1.05, top / 1.05)
    outside = inside != time_us
    for mask, face in ((~outside, style.colour), (outside, "white")):
        axes.plot(
            measured_us[mask], inside[mask], linestyle="", marker=style.marker, markersize=2.6, alpha=0.7,
            markerfacecolor=face, markeredgecolor=style.colour, markeredgewidth=0.5, zorder=3, rasterized=True,
        )  # fmt: skip


def _legend(figure: Figure, looks: Mapping[str, Style], algorithms: int, columns: int) -> None:
    entries = dict(looks)
    if algorithms > len(looks):
        entries[f"{algorithms - len(looks)} others"] = OTHERS
    handles = [
        figure.axes[0].plot([], [], linestyle="", marker=look.marker, color=look.colour, label=name)[0]
        for name, look in entries.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def write(path: Path, operation: str, test: pd.DataFrame, predictions: Mapping[str, Prediction]) -> None:
    """Draw `predicted` into `.svg`, `.png` or `.html`; RequestError for another ending or place."""
    write_drawing(path, lambda: predicted(operation, test, predictions))
