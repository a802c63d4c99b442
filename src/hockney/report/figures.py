"""Figures of messages between pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hockney.models._evaluate import HeldOut
from hockney.report.curves import MessageCurve, labels
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import (
    AGAINST_SIZE,
    RATE,
    Axis,
    Chart,
    Line,
    Mark,
    Panel,
    Shown,
    along,
    lines_of,
    model_lines,
)
from hockney.report.marks import Peak, SizeMark, percent
from hockney.report.style import MEASURED, QUIET, Looks, SizeAxis, Style, rate_unit
from hockney.units import counted, format_bytes, format_rate

LEVEL = Style(QUIET, (7, 2), "")
LATE = 0.4
"""A peak that begins beyond this share of the width has its words at its end."""
SIZES = along(AGAINST_SIZE)
FEWEST_PANELS = 4
"""Places in a row of a panel for each model."""
DOTS = 3.6


@dataclass(frozen=True)
class Context:
    """The style of each model, and the sizes and peaks to mark, for all figures of a report."""

    model_styles: Mapping[str, Style]
    looks: Looks = field(default_factory=Looks)
    """The styles of everything else that is drawn on the page."""
    size_marks: Sequence[SizeMark] = ()
    peaks: Sequence[Peak] = ()

    def marks_of(self, curves: Sequence[MessageCurve]) -> list[SizeMark]:
        """The sizes to mark in a figure of these curves: caches of all their systems, inside of a node."""
        within = {curve.system for curve in curves if curve.entry.locality != "network"}
        return [
            mark
            for mark in self.size_marks
            if not mark.inside
            or (within and (not mark.system or {curve.system for curve in curves} == {mark.system}))
        ]


def with_fits(curve: MessageCurve, context: Context) -> Drawing:
    """Time and throughput of one curve, with intervals and all fits."""
    label = "measured (median, 95 % interval)" if _has_intervals(curve) else "measured"
    measured = [
        replace(line, label=label, style=Style(MEASURED, (), "o"), width=0, dots=DOTS, order=5)
        for line in _measured(curve)
    ]
    models = model_lines(curve.points, curve.regimes)
    drawn = [replace(line, style=context.model_styles[line.label]) for line in models]
    times = [measured[0], *drawn]
    rates = [
        replace(line, label="", y=curve.throughput(line.x, np.where(line.y > 0, line.y, np.nan)))
        for line in drawn
        if line.x.size > 1 or line.x[0] > 0
    ]
    marks = context.marks_of([curve])
    note = _marks_note(curve.size_B, marks)
    if curve.entry.eager_limit_B:
        marks.append(SizeMark(curve.entry.eager_limit_B, "eager limit"))
    return Drawing(
        f"{curve.name}-fits",
        "Measured and fitted.",
        f"{curve.operation}, {curve.label}: time and throughput against message size, measured and fitted. "
        + in_words(curve),
        " ".join(text for text in (note, _negative_note(models)) if text),
        _pair([curve], times, [measured[1], *rates], marks, context.peaks, columns=6),
    )


def overview(name: str, title: str, curves: Sequence[MessageCurve], context: Context, where: str = "") -> Drawing:
    """Measured time and throughput of several curves in one figure; `where` they were measured."""
    names = labels(curves)
    kinds = [curve.kind for curve in curves]
    keys = kinds if len(set(kinds)) == len(kinds) and len({curve.system for curve in curves}) == 1 else names
    looks = context.looks.of(keys).values()
    times, rates = (
        [
            replace(line, label=label, style=look, width=1.1, dots=DOTS)
            for curve, label, look in zip(curves, names, looks, strict=True)
            for line in _measured(curve)[place : place + 1]
        ]
        for place in (0, 1)
    )
    marks = context.marks_of(curves)
    words = " ".join(f"{label}: {in_words(curve)}" for curve, label in zip(curves, names, strict=True))
    sizes = np.concatenate([curve.size_B for curve in curves])
    return Drawing(
        f"{name}-measured",
        f"Measured: {title}.",
        f"{title}: measured time and throughput against message size. {words}",
        " ".join(filter(None, [where, _bars_note(curves), _marks_note(sizes, marks)])),
        _pair(curves, times, rates, marks, context.peaks, columns=5),
        choice=Shown(curves[0].operation),
    )


def residuals(curve: MessageCurve, context: Context) -> Drawing:
    """The error of each model at each measured point, in per cent of the measured time."""
    ratios = model_lines(curve.points, curve.regimes, over_measured=True)
    errors = {line.label: 100 * (line.y - 1) for line in ratios}
    medians = {model: percent(float(np.median(np.abs(error))) / 100) for model, error in errors.items()}
    y = Axis("error of the model", "percent")
    panels: list[Panel | None] = [
        Panel(
            [
                Line(
                    "", curve.size_B, error, np.minimum(error, 0), np.maximum(error, 0),
                    style=context.model_styles[model], width=0, dots=DOTS,
                )
            ],
            SIZES,
            y,
            f"{model}\nmedian {medians[model]}",
            [Mark(0.0, style=Style(QUIET, (), ""), is_level=True)],
            band=(-10, 10),
        )
        for model, error in errors.items()
    ]  # fmt: skip
    listed = ", ".join(f"{model} {median}" for model, median in medians.items())
    return Drawing(
        f"{curve.name}-residuals",
        "Residuals.",
        f"{curve.operation}, {curve.label}: relative residuals of each model against message size. "
        f"Median of their magnitude: {listed}.",
        "(Model − measured) / measured; linear within ±1 %, logarithmic beyond. The grey band is ±10 %.",
        Chart([_places(panels)], 2.6, shared="row"),
    )


def _places(panels: Sequence[Panel | None]) -> list[Panel | None]:
    """The panels of a row, with empty places for those that are fewer than `FEWEST_PANELS`."""
    return [*panels, *[None] * (FEWEST_PANELS - len(panels))]


def held_out(name: str, title: str, results: Mapping[str, HeldOut], context: Context) -> Drawing:
    """Predicted against measured time on points that the fits have not seen, one panel for each model."""
    everything = np.concatenate([result.measured_s for result in results.values()])
    low, high = float(everything.min()), float(everything.max())
    panels: list[Panel | None] = []
    for model, result in results.items():
        inside = np.clip(result.predicted_s, low / 1.5, high * 1.5)
        beyond = inside != result.predicted_s
        dots = [
            Line(
                "", result.measured_s[chosen], inside[chosen], style=context.model_styles[model], width=0,
                dots=3.2, is_open=is_open,
            )
            for chosen, is_open in ((~beyond, False), (beyond, True))
        ]  # fmt: skip
        panels.append(
            Panel(
                dots,
                Axis("measured (µs)", "log", 1e-6),
                Axis("predicted (µs)", "log", 1e-6, values=np.array([low / 1.2, high * 1.2])),
                f"{model}\nmedian {percent(result.median)}, P95 {percent(result.p95)}",
                is_square=True,
            )
        )
    words = ", ".join(f"{m} median {percent(r.median)} and P95 {percent(r.p95)}" for m, r in results.items())
    return Drawing(
        f"{name}-held-out",
        "Held-out check.",
        f"{title}: predicted against measured time on points the fits have not seen. Error: {words}.",
        "Every model is fitted again without the points at odd positions, and predicts those: predicted against "
        "measured time of all curves of this operation. Open symbols lie beyond the frame.",
        Chart([_places(panels)], 2.75, shared="row"),
    )


def in_words(curve: MessageCurve) -> str:
    """The ends of the curve and its measured peak, for a reader who does not see the figure."""
    first, last = curve.entry.measurements.points[0], curve.entry.measurements.points[-1]
    peak = curve.peak
    reaches = (
        ""
        if peak is None
        else f"; the measured peak is {format_rate(peak.rate.value)} at {format_bytes(peak.size_B)}"
    )
    return (
        f"{format_bytes(first.size_B)} takes {first.time_s * 1e6:.3g} µs, "
        f"{format_bytes(last.size_B)} takes {last.time_s * 1e6:.3g} µs{reaches}."
    )


def _measured(curve: MessageCurve) -> list[Line]:
    """Times, and throughput."""
    return [lines_of(curve.points, view, "operation")[0] for view in (AGAINST_SIZE, RATE)]


def _pair(
    curves: Sequence[MessageCurve],
    times: Sequence[Line],
    rates: Sequence[Line],
    marks: Sequence[SizeMark],
    peaks: Sequence[Peak],
    columns: int,
) -> Chart:
    """Time and throughput beside each other, with the sizes and the peaks to compare them with."""
    sizes = np.concatenate([curve.size_B for curve in curves])
    axis = SizeAxis.of([sizes])
    merged: dict[float, list[str]] = {}
    for mark in marks:
        if axis.smallest_B <= mark.size_B <= axis.largest_B:
            merged.setdefault(mark.size_B, []).append(mark.label)
    verticals = [Mark(size_B, " = ".join(words)) for size_B, words in merged.items()]
    x = replace(SIZES, values=sizes)
    times_s = np.concatenate([curve.time_s for curve in curves])
    both = any(curve.directions == 2 for curve in curves)
    reached = _fastest(curves)
    unit, name = rate_unit(reached)
    levels = [level for level in _levels(curves, peaks, axis) if level.at <= 5 * reached]
    # A peak far above the data would flatten them; the text then has its share.
    top = max([reached, *(level.at for level in levels)])
    rows = -(-len({line.label for line in times} - {""}) // columns)
    return Chart(
        [
            [
                Panel(
                    times,
                    x,
                    Axis(f"time per message{' each way' if both else ''} (µs)", "log", 1e-6, values=times_s),
                    marks=verticals,
                ),
                Panel(
                    rates,
                    x,
                    Axis(
                        f"throughput{', both directions' if both else ''} ({name})",
                        "from_0",
                        unit,
                        values=np.array([1.04 * top]),
                    ),
                    marks=[*verticals, *levels],
                ),
            ]
        ],
        3.2 + 0.17 * rows,
        columns=columns,
    )


def _levels(curves: Sequence[MessageCurve], peaks: Sequence[Peak], axis: SizeAxis) -> list[Mark]:
    """Lines over the sizes of each peak, with the share of it that the throughput reaches."""
    directions = max(curve.directions for curve in curves)
    left, right = axis.limits
    levels = []
    for peak in peaks:
        limited = [curve for curve in curves if peak.limits(curve.entry.locality)]
        if not limited or not (reached := _fastest(limited, peak)):
            continue
        share = f": {percent(peak.share(reached, directions))} reached"
        ends_B = max(peak.above_B, 0.0), min(peak.up_to_B, axis.largest_B)
        first, last = (float(at) for at in (axis.position(ends_B) - left) / (right - left))
        reach = first if peak.above_B > 0 else 0.0, last if math.isfinite(peak.up_to_B) else 1.0
        levels.append(
            Mark(
                directions * peak.rate_B_per_s,
                peak.label(directions) + (share if peak.may_carry(reached, directions) else ""),
                LEVEL,
                1.0,
                "end" if reach[0] > LATE else "begin",
                is_level=True,
                reach=reach,
            )
        )
    return levels


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


def _has_intervals(curve: MessageCurve) -> bool:
    return any(point.low_s is not None for point in curve.entry.measurements.points)


def _bars_note(curves: Sequence[MessageCurve]) -> str:
    """What the bars are, and which curves have none."""
    bare = sum(not _has_intervals(curve) for curve in curves)
    if bare == len(curves):
        return "Nothing is known of the uncertainty, so there are no bars."
    return "Bars are 95 % intervals of the median" + (f"; {counted(bare, 'curve')} without." if bare else ".")


def _marks_note(size_B: NDArray[np.float64], marks: Sequence[SizeMark]) -> str:
    """The sizes of the marks, and which of them lie outside the plot."""
    axis = SizeAxis.of([size_B])
    inside = {m for m in marks if axis.smallest_B <= m.size_B <= axis.largest_B}
    texts = [
        f"{mark.label} {format_bytes(mark.size_B)}{'' if mark in inside else ' (outside the plot)'}"
        for mark in marks
    ]
    return f"Caches: {', '.join(texts)}." if texts else ""


def _negative_note(lines: Sequence[Line]) -> str:
    negative = dict.fromkeys(line.label for line in lines if line.x[0] > 0 and (line.y <= 0).any())
    return f"{', '.join(negative)}: not drawn where the model gives a negative time." if negative else ""
