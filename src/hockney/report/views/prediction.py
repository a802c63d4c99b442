"""Predictions as a person reads them, and the same as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney.machine.file import Entry
from hockney.machine.select import words
from hockney.machine.summary import OVERSUBSCRIBED, published
from hockney.predict.message import MessagePrediction
from hockney.units import format_bytes, format_rate, format_time


def as_text(heading: str, entry: Entry, predictions: Sequence[MessagePrediction]) -> str:
    """`heading` and, per size, the time with its interval, the bandwidth, and the formula it comes from."""
    lines = [heading]
    if entry.oversubscribed:
        lines.append(OVERSUBSCRIBED)
    if entry.source:
        lines.append(published(entry.source))
    for one in predictions:
        figures = [f"{format_bytes(one.size_B)}: {format_time(one.time_s)}"]
        if one.low_s is not None and one.high_s is not None:
            figures.append(f"95 % interval {format_time(one.low_s)} to {format_time(one.high_s)}")
        if one.bandwidth_B_per_s:
            figures.append(format_rate(one.bandwidth_B_per_s))
        if one.remark:
            figures.append(one.remark)
        lines += [", ".join(figures), f"  {one.formula}"]
    return "\n".join(lines)


def as_data(entry: Entry, model: str, predictions: Sequence[MessagePrediction]) -> dict[str, Any]:
    """What `predict --json` prints."""
    return {
        **words(entry),
        "model": model,
        "oversubscribed": entry.oversubscribed,
        "predictions": [
            {
                "size_B": one.size_B,
                "time_s": one.time_s,
                "low_s": one.low_s,
                "high_s": one.high_s,
                "bandwidth_B_per_s": one.bandwidth_B_per_s,
                "formula": one.formula,
                "regime": one.regime.model_dump(mode="json"),
                "extrapolated": one.extrapolated,
                "factor": one.factor,
            }
            for one in predictions
        ],
        "warnings": warnings(entry, predictions),
    }


def warnings(entry: Entry, predictions: Sequence[MessagePrediction]) -> list[str]:
    """What limits them: sizes outside the measured ones, ranks that shared cores, models of others."""
    found = [f"{format_bytes(one.size_B)}: {one.remark}" for one in predictions if one.remark]
    found += [OVERSUBSCRIBED] if entry.oversubscribed else []
    return [*found, published(entry.source)] if entry.source else found
