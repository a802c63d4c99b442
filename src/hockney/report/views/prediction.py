"""Predictions as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hockney.machine.file import Entry
from hockney.machine.formula import OVERSUBSCRIBED, published
from hockney.machine.levels import level_remark
from hockney.machine.marks import MARKS, of_point
from hockney.machine.select import words
from hockney.predict.added import AddedTime
from hockney.predict.message import MessagePrediction
from hockney.units import format_bytes, format_rate, format_time


def as_text(heading: str, entry: Entry, predictions: Sequence[MessagePrediction]) -> str:
    """`heading`, then for each size the time with its interval, the bandwidth and the formula."""
    lines = [heading]
    if entry.oversubscribed:
        lines.append(OVERSUBSCRIBED)
    if entry.source:
        lines.append(published(entry.source))
    if remark := level_remark(entry):
        lines.append(remark)
    for prediction in predictions:
        figures = [f"{format_bytes(prediction.size_B)}: {format_time(prediction.time_s)}"]
        if prediction.low_s is not None and prediction.high_s is not None:
            figures.append(f"95 % interval {format_time(prediction.low_s)} to {format_time(prediction.high_s)}")
        if prediction.bandwidth_B_per_s:
            figures.append(format_rate(prediction.bandwidth_B_per_s))
        if prediction.remark:
            figures.append(prediction.remark)
        lines += [", ".join(figures), f"  {prediction.formula}"]
        if prediction.weight:
            lines.append(
                f"  that is {format_time(prediction.readable_s)}; interpolation between the measured sizes, of "
                f"weight {prediction.weight:.2g}, corrects it by {prediction.correction:+.1%}"
            )
        lines += [f"  {text}" for text in _what_concerns(entry, prediction.size_B)]
    return "\n".join(lines)


def _what_concerns(entry: Entry, size_B: int) -> list[str]:
    """What the measurements near a size leave in doubt: two modes of times, or a marked point."""
    around = [modes for modes in entry.modes if modes.smallest_B <= size_B <= modes.largest_B]
    said = [
        f"measured in two modes around it: {modes.times_as_long:.2g} times as long {modes.share:.0%} of the time"
        for modes in sorted(around, key=lambda modes: -modes.times_as_long)[:1]  # of several pairs the worst
    ]
    points = entry.measurements.points
    below = max((point for point in points if point.size_B <= size_B), key=lambda p: p.size_B, default=None)
    above = min((point for point in points if point.size_B >= size_B), key=lambda p: p.size_B, default=None)
    near = {point.size_B: of_point(point, "").marks for point in (below, above) if point is not None}
    for near_B, marks in near.items():
        if marks:
            named = ", ".join(mark for mark in MARKS if mark in marks)
            said.append(f"measured nearby, {format_bytes(near_B)} is marked: {named}")
    return said


def as_data(entry: Entry, model: str, predictions: Sequence[MessagePrediction]) -> dict[str, Any]:
    """The data that `predict --json` prints."""
    return {
        **words(entry),
        "model": model,
        "oversubscribed": entry.oversubscribed,
        "predictions": [
            {
                "size_B": prediction.size_B,
                "time_s": prediction.time_s,
                "readable_s": prediction.readable_s,
                "correction": prediction.correction,
                "weight": prediction.weight,
                "low_s": prediction.low_s,
                "high_s": prediction.high_s,
                "bandwidth_B_per_s": prediction.bandwidth_B_per_s,
                "formula": prediction.formula,
                "regime": prediction.regime.model_dump(mode="json"),
                "extrapolated": prediction.extrapolated,
                "factor": prediction.factor,
            }
            for prediction in predictions
        ],
        "warnings": warnings(entry, predictions),
    }


def added_data(sum_of: AddedTime) -> dict[str, Any]:
    """The data of a message with its effects; an end of the interval is None where a term has none."""
    low_s, high_s = sum_of.interval_s or (None, None)
    return {
        "size_B": sum_of.size_B,
        "time_s": sum_of.time_s,
        "low_s": low_s,
        "high_s": high_s,
        "is_bound": sum_of.is_bound,
        "least_s": sum_of.least_s,
        "terms": [asdict(term) for term in sum_of.terms],
    }


def warnings(entry: Entry, predictions: Sequence[MessagePrediction]) -> list[str]:
    """Limits of the predictions: sizes that were not measured, or not well, shared cores, published models."""
    remarks = [
        f"{format_bytes(prediction.size_B)}: {text}"
        for prediction in predictions
        for text in filter(None, [prediction.remark, *_what_concerns(entry, prediction.size_B)])
    ]
    remarks += [OVERSUBSCRIBED] if entry.oversubscribed else []
    remarks += filter(None, [level_remark(entry)])
    return [*remarks, published(entry.source)] if entry.source else remarks
