"""Figures of messages between pairs, as matplotlib figures without global state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from hockney.models._evaluate import HeldOut
from hockney.report.axes import SizeAxis, log_axis, plain, rate_unit
from hockney.report.curves import MessageCurve, labels
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.explorer.chart import AGAINST_SIZE, MISSED, MODELS, RATE, Line, lines_of, model_lines
from hockney.report.marks import Peak, SizeMark, draw_peaks, draw_sizes, percent
from hockney.report.style import MEASURED, QUIET, Looks, Style
from hockney.units import format_bytes, format_rate

LEFT = 0.098
"""Share of the width left of the axes: a label and numbers as long as `100 000 000`."""


@dataclass(frozen=True)
class Context:
    """The style of each model, and the sizes and peaks to mark, for all figures of a report."""

    model_styles: Mapping[str, Style]
    looks: Looks = field(default_factory=Looks)
    """The styles of everything else that is drawn on the page."""
    size_marks: Sequence[SizeMark] = ()
    peaks: Sequence[Peak] = ()

    def marks_of(self, curves: Sequence[MessageCurve]) -> list[SizeMark]:
        """The sizes to mark in a figure of these curves: caches where one of them is inside of a node."""
        between_nodes = all(curve.entry.locality == "network" for curve in curves)
        return [mark for mark in self.size_marks if not (mark.inside and between_nodes)]


def with_fits(curve: MessageCurve, context: Context) -> Drawing:
    """Time and throughput of one curve, with intervals and all fits."""
    figure, (time_axes, rate_axes), size_axis = _pair([curve], rows=_legend_rows(len(curve.fits) + 1))
    bounds = _has_intervals(curve)
    measured_label = "measured (median, 95 % interval)" if bounds else "measured"
    for axes, line, scale in _panels(curve, time_axes, rate_axes):
        axes.errorbar(
            size_axis.position(line.x), line.y / scale, yerr=_reach(line) / scale, fmt="o", color=MEASURED,
            markersize=3.6, elinewidth=1.0, capsize=2.0, label=measured_label, zorder=5,
        )  # fmt: skip
    unit, _ = rate_unit(_fastest([curve]))
    lines = model_lines(curve.points, curve.regimes, MODELS)
    for line in lines:
        look, time_s = context.model_styles[line.label].line, _positive(line.y)
        at = size_axis.position(line.x)
        if line.x.size == 1 and line.x[0] == 0:
            # One point is no line.
            at, time_s = at + 0.018 * size_axis.span * np.array([-1, 1]), np.repeat(time_s, 2)
        else:
            rate_axes.plot(at, curve.throughput(line.x, time_s) / unit, **look)
        time_axes.plot(at, time_s * 1e6, **look)
    for model in curve.fits:
        time_axes.plot([], [], label=model, **context.model_styles[model].line)
    marks = context.marks_of([curve])
    note = _marks_note(size_axis, marks)
    if curve.entry.eager_limit_B:
        marks.append(SizeMark(curve.entry.eager_limit_B, "eager limit"))
    _finish([curve], time_axes, rate_axes, size_axis, marks, context.peaks)
    entries = sorted(
        zip(*time_axes.get_legend_handles_labels(), strict=True), key=lambda entry: entry[1] != measured_label
    )
    handles, texts = zip(*entries, strict=True)
    figure.legend(handles, texts, loc="lower center", ncols=6, handlelength=3.2)
    return Drawing(
        f"{curve.name}-fits",
        "Measured and fitted.",
        f"{curve.operation}, {curve.label}: time and throughput against message size, measured and fitted. "
        + in_words(curve),
        " ".join(text for text in (note, _negative_note(lines)) if text),
        figure,
    )


def overview(name: str, title: str, curves: Sequence[MessageCurve], context: Context) -> Drawing:
    """Measured time and throughput of several curves in one figure, one style each."""
    names = labels(curves)
    kinds = [curve.kind for curve in curves]
    keys = kinds if len(set(kinds)) == len(kinds) else names
    looks = dict(zip(names, context.looks.of(keys).values(), strict=True))
    columns = _legend_columns(names)
    figure, (time_axes, rate_axes), size_axis = _pair(curves, rows=-(-len(curves) // columns))
    for curve, label in zip(curves, names, strict=True):
        style = looks[label]
        for axes, line, scale in _panels(curve, time_axes, rate_axes, _fastest(curves)):
            at = size_axis.position(line.x)
            joined = np.where(line.x == 0, np.nan, at)
            axes.plot(joined, line.y / scale, **{**style.line, "linewidth": 1.1}, zorder=3)
            axes.errorbar(
                at, line.y / scale, yerr=_reach(line) / scale, fmt=style.marker, color=style.colour,
                markersize=3.6, elinewidth=0.9, zorder=4,
            )  # fmt: skip
        time_axes.plot([], [], label=label, marker=style.marker, **style.line)
    _finish(curves, time_axes, rate_axes, size_axis, context.marks_of(curves), context.peaks)
    figure.legend(*time_axes.get_legend_handles_labels(), loc="lower center", ncols=columns, handlelength=3.2)
    words = " ".join(f"{label}: {in_words(curve)}" for curve, label in zip(curves, names, strict=True))
    return Drawing(
        f"{name}-measured",
        f"Measured: {title}.",
        f"{title}: measured time and throughput against message size. {words}",
        " ".join(filter(None, [_bars_note(curves), _marks_note(size_axis, context.marks_of(curves))])),
        figure,
        choice={"operation": curves[0].operation},
    )


def residuals(curve: MessageCurve, context: Context) -> Drawing:
    """The error of each model at each measured point, in per cent of the measured time."""
    size_axis = SizeAxis.of([curve.size_B])
    figure = Figure(figsize=(WIDTH_IN, 2.6))
    figure.subplots_adjust(left=0.1, right=0.995, top=0.82, bottom=0.19, wspace=0.08)
    panels = figure.subplots(1, max(len(curve.fits), 4), sharey=True, squeeze=False)[0]
    errors = {line.label: line.y - 1 for line in model_lines(curve.points, curve.regimes, MISSED)}
    everything = 100 * np.concatenate(list(errors.values()))
    for axes in panels[len(errors) :]:
        axes.set_visible(False)
    for axes, (model, error) in zip(panels, errors.items(), strict=False):
        style = context.model_styles[model]
        axes.axhspan(-10, 10, color="#f1f1f1", zorder=0)
        axes.axhline(0, color=QUIET, linewidth=0.8, zorder=1)
        axes.vlines(size_axis.position(curve.size_B), 0, 100 * error, color=style.colour, linewidth=0.8, zorder=2)
        axes.plot(
            size_axis.position(curve.size_B), 100 * error, linestyle="", marker=style.marker, color=style.colour,
            markersize=3.6,
        )  # fmt: skip
        axes.set_title(f"{model}\nmedian {percent(float(np.median(np.abs(error))))}", fontsize=8.5)
        size_axis.apply(axes, labels=4)
        _percent_axis(axes, float(everything.min()), float(everything.max()))
    panels[0].set_ylabel("error of the model")
    medians = ", ".join(f"{m} {percent(float(np.median(np.abs(e))))}" for m, e in errors.items())
    return Drawing(
        f"{curve.name}-residuals",
        "Residuals.",
        f"{curve.operation}, {curve.label}: relative residuals of each model against message size. "
        f"Median of their magnitude: {medians}.",
        "(Model − measured) / measured; linear within ±1 %, logarithmic beyond. The grey band is ±10 %.",
        figure,
    )


def held_out(name: str, title: str, results: Mapping[str, HeldOut], context: Context) -> Drawing:
    """Predicted against measured time on points that the fits have not seen, one panel for each model."""
    figure = Figure(figsize=(WIDTH_IN, 2.75))
    figure.subplots_adjust(left=LEFT, right=0.995, top=0.83, bottom=0.18, wspace=0.10)
    panels = figure.subplots(1, max(len(results), 4), sharey=True, squeeze=False)[0]
    everything = np.concatenate([result.measured_s for result in results.values()]) * 1e6
    low, high = float(everything.min()), float(everything.max())
    for axes in panels[len(results) :]:
        axes.set_visible(False)
    for axes, (model, result) in zip(panels, results.items(), strict=False):
        style = context.model_styles[model]
        ends = np.array([low / 2, high * 2])
        axes.plot(ends, ends, color=QUIET, linewidth=0.8, zorder=1)
        inside = np.clip(result.predicted_s * 1e6, low / 1.5, high * 1.5)
        outside = inside != result.predicted_s * 1e6
        axes.plot(
            result.measured_s[~outside] * 1e6, inside[~outside], linestyle="", marker=style.marker,
            color=style.colour, markersize=3.2, zorder=3,
        )  # fmt: skip
        axes.plot(
            result.measured_s[outside] * 1e6, inside[outside], linestyle="", marker=style.marker, zorder=3,
            markerfacecolor="white", markeredgecolor=style.colour, markersize=3.2, clip_on=False,
        )  # fmt: skip
        log_axis(axes, low / 1.2, high * 1.2)
        axes.set_xscale("log")
        axes.set_xlim(axes.get_ylim())
        axes.xaxis.set_major_locator(axes.yaxis.get_major_locator().__class__(numticks=6))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_title(f"{model}\nmedian {percent(result.median)}, P95 {percent(result.p95)}", fontsize=8.5)
        axes.set_xlabel("measured (µs)")
    panels[0].set_ylabel("predicted (µs)")
    words = ", ".join(f"{m} median {percent(r.median)} and P95 {percent(r.p95)}" for m, r in results.items())
    return Drawing(
        f"{name}-held-out",
        "Held-out check.",
        f"{title}: predicted against measured time on points the fits have not seen. Error: {words}.",
        "Every model is fitted again without the points at odd positions, and predicts those: predicted against "
        "measured time of all curves of this operation. Open symbols lie beyond the frame.",
        figure,
    )


def in_words(curve: MessageCurve) -> str:
    """The ends of the curve and its highest throughput, for a reader who does not see the figure."""
    fastest = int(np.argmax(curve.throughput(curve.size_B, curve.time_s)))
    rate = curve.throughput(curve.size_B, curve.time_s)[fastest]
    first, last = curve.entry.measurements.points[0], curve.entry.measurements.points[-1]
    return (
        f"{format_bytes(first.size_B)} takes {first.time_s * 1e6:.3g} µs, "
        f"{format_bytes(last.size_B)} takes {last.time_s * 1e6:.3g} µs; "
        f"the highest throughput is {format_rate(rate)} at {format_bytes(curve.size_B[fastest])}."
    )


def _pair(curves: Sequence[MessageCurve], rows: int) -> tuple[Figure, tuple[Axes, Axes], SizeAxis]:
    legend_in = 0.12 + 0.17 * rows
    height = 3.75 + legend_in
    figure = Figure(figsize=(WIDTH_IN, height))
    figure.subplots_adjust(
        left=LEFT, right=0.995, top=1 - 0.36 / height, bottom=(0.52 + legend_in) / height, wspace=0.18
    )
    time_axes, rate_axes = figure.subplots(1, 2)
    return figure, (time_axes, rate_axes), SizeAxis.of([curve.size_B for curve in curves])


def _legend_rows(entries: int) -> int:
    return -(-entries // 6)


def _legend_columns(labels: Sequence[str]) -> int:
    longest = max(len(label) for label in labels)
    return max(1, min(5, int(150 / (longest + 10)), len(labels)))


def _panels(
    curve: MessageCurve, time_axes: Axes, rate_axes: Axes, fastest_B_per_s: float | None = None
) -> list[tuple[Axes, Line, float]]:
    """Axes, measured values and unit of the two panels: time in s and throughput in B/s."""
    unit, _ = rate_unit(fastest_B_per_s or _fastest([curve]))
    time, rate = (lines_of(curve.points, view, "operation")[0] for view in (AGAINST_SIZE, RATE))
    return [(time_axes, time, 1e-6), (rate_axes, rate, unit)]


def _reach(line: Line) -> NDArray[np.float64]:
    """How far intervals reach down and up, (2, n); 0 where there is none."""
    return np.nan_to_num(np.abs(np.vstack([line.y - line.low, line.high - line.y])))


def _finish(
    curves: Sequence[MessageCurve],
    time_axes: Axes,
    rate_axes: Axes,
    size_axis: SizeAxis,
    marks: Sequence[SizeMark],
    peaks: Sequence[Peak],
) -> None:
    for axes in (time_axes, rate_axes):
        size_axis.apply(axes)
        draw_sizes(axes, size_axis, marks)
    times = np.concatenate([np.concatenate([curve.low_s, curve.high_s]) for curve in curves]) * 1e6
    log_axis(time_axes, float(times[times > 0].min()), float(times.max()))
    both = any(curve.directions == 2 for curve in curves)
    time_axes.set_ylabel("time per message each way (µs)" if both else "time per message (µs)")
    reached = _fastest(curves)
    unit, name = rate_unit(reached)
    directions = max(curve.directions for curve in curves)
    reached_of = {
        peak: reached_there
        for peak in peaks
        if (limited := [curve for curve in curves if peak.limits(curve.entry.locality)])
        and (reached_there := _fastest(limited, peak)) > 0
    }
    levels = [directions * peak.rate_B_per_s / unit for peak in reached_of]
    # A peak far above the data would flatten them; the text then has its share.
    top = max([reached / unit, *(level for level in levels if level <= 5 * reached / unit)])
    rate_axes.set_ylim(0, 1.12 * top if top > 0 else 1.0)
    rate_axes.set_ylabel(f"throughput, both directions ({name})" if both else f"throughput ({name})")
    draw_peaks(rate_axes, size_axis, reached_of, directions, unit)


def _fastest(curves: Sequence[MessageCurve], peak: Peak | None = None) -> float:
    """The highest throughput, of sizes that go the way of a peak if one is given; 0 where none does."""
    return max(
        float(
            np.max(
                curve.throughput(curve.size_B, curve.time_s),
                where=True if peak is None else peak.carries(curve.size_B),
                initial=0.0,
            )
        )
        for curve in curves
    )


def _positive(time_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Times with NaN for those that are not positive, which have no place on a logarithmic axis."""
    return np.where(time_s > 0, time_s, np.nan)


def _has_intervals(curve: MessageCurve) -> bool:
    return any(point.low_s is not None for point in curve.entry.measurements.points)


def _bars_note(curves: Sequence[MessageCurve]) -> str:
    """What the bars are, and which curves have none."""
    bare = sum(not _has_intervals(curve) for curve in curves)
    if bare == len(curves):
        return "Nothing is known of the uncertainty, so there are no bars."
    return "Bars are 95 % intervals of the median" + (f"; {bare} curves have none." if bare else ".")


def _marks_note(size_axis: SizeAxis, marks: Sequence[SizeMark]) -> str:
    """The sizes of the marks, and which of them lie outside the plot."""
    inside = {m for m in marks if size_axis.smallest_B <= m.size_B <= size_axis.largest_B}
    texts = [
        f"{mark.label} {format_bytes(mark.size_B)}{'' if mark in inside else ' (outside the plot)'}"
        for mark in marks
    ]
    return f"Caches: {', '.join(texts)}." if texts else ""


def _negative_note(lines: Sequence[Line]) -> str:
    negative = dict.fromkeys(line.label for line in lines if line.x[0] > 0 and (line.y <= 0).any())
    return f"{', '.join(negative)}: not drawn where the model gives a negative time." if negative else ""


def _percent_axis(axes: Axes, low: float, high: float) -> None:
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
