"""The time of one message from a machine file, with its interval, and how far beyond the measurements it lies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, computed_field

from hockney.errors import RequestError
from hockney.machine.file import Entry
from hockney.machine.formula import OVERSUBSCRIBED, formula, published, regime_of
from hockney.machine.levels import level_remark
from hockney.machine.measured import MARKS, of_point
from hockney.machine.select import title
from hockney.models.base import Regime, corrected, correction_share, interval, predict
from hockney.records.keys import DIRECTIONS
from hockney.records.series import Series, size_place
from hockney.units import format_bytes, percent


@dataclass(frozen=True)
class MessagePrediction:
    """`time_s` of one message of `size_B` bytes and its 95 % interval (None where the fit supports none).

    `readable_s` is the formula's time. Among the measured sizes `time_s` is corrected by interpolation, of weight
    `weight` (0: not corrected).
    `extrapolated` says that the size lies outside the measured ones, `factor` is then its ratio to the nearest of
    them (None where that is 0 B); of a published model, of which no sizes are known, neither is said. A bandwidth
    is None where the time is zero.
    """

    size_B: int
    time_s: float
    readable_s: float
    weight: float
    low_s: float | None
    high_s: float | None
    bandwidth_B_per_s: float | None
    regime: Regime
    formula: str
    extrapolated: bool
    factor: float | None
    concerns: Annotated[Sequence[str], Field(exclude=True)] = ()
    """What the measurements near this size leave in doubt, and what was not measured besides the size."""

    @computed_field
    @property
    def correction(self) -> float:
        """What the correction adds, as a share of the formula's time."""
        return self.time_s / self.readable_s - 1 if self.readable_s > 0 else 0.0

    @property
    def remark(self) -> str:
        """How far outside the measured sizes, in words; empty inside."""
        if not self.extrapolated:
            return ""
        if self.factor is not None and self.factor < 1:
            return "below the smallest measured size"
        times = "" if self.factor is None else f"{self.factor:.3g} × "
        return f"{times}beyond the largest measured size"


def added_up(ends: Iterable[float | None]) -> float | None:
    """The sum of ends of intervals: no errors are taken to cancel. None where one is not known."""
    known = list(ends)
    return None if None in known else sum(end for end in known if end is not None)


STEP = 4.0
"""The interval grows by its own factor for each such ratio of sizes beyond the largest measured one: all that is
known of these steps is the error of one step inside the measurements."""

MOST_B = 2**63 - 1


def predict_message(entry: Entry, size_B: int, model: str, beyond: float = 1.0) -> MessagePrediction:
    """Time of one message of `size_B` ≥ 0 bytes by the fit of that name.

    `beyond`: as many times the links measured does the message cross; its interval grows as beyond sizes.
    RequestError for a negative size or one beyond MOST_B, a model that is not fitted, or a fit that gives a
    negative time there.
    """
    if size_B < 0:
        raise RequestError(f"a message of {size_B} B does not exist", "sizes are 0 B or more")
    if size_B > MOST_B:
        raise RequestError(
            f"a message of {size_B:.3g} B is more than MPI can count", f"at most {MOST_B} B (2^63 − 1)"
        )
    if model not in entry.fits:
        notes = (note.removeprefix(f"{model}: ") for note in entry.notes if note.startswith(f"{model}: "))
        reason = next((f": {note}" for note in notes), "")
        known = ", ".join(sorted(entry.fits)) or "none"
        raise RequestError(f"model {model!r} is not fitted to {title(entry)}{reason}", f"fitted: {known}")
    fit = entry.fits[model]
    readable_s = float(predict(fit, size_B))
    if readable_s < 0:
        raise RequestError(
            f"model {model!r} gives {readable_s:.3g} s for {size_B} B: its parameters are not physical",
            "choose another --model",
        )
    measured = entry.measured
    time_s = float(corrected(fit, size_B, measured))
    least, most = (1.0, 1.0) if measured is None or len(entry.pairs) < 2 else _pairs_around(measured, size_B)
    bounds = interval(fit, size_B, measured)
    index = regime_of(fit, size_B)
    extrapolated, factor = _outside(entry, size_B)
    steps = math.log(max(factor or 1.0, 1.0) * beyond) / math.log(STEP)
    return MessagePrediction(
        size_B=size_B,
        time_s=time_s,
        readable_s=readable_s,
        weight=float(correction_share(fit, size_B, measured)),
        low_s=None if bounds is None else _widened(time_s, min(float(bounds[0]), least * time_s), 1 + steps),
        high_s=None if bounds is None else _widened(time_s, max(float(bounds[1]), most * time_s), 1 + steps),
        bandwidth_B_per_s=DIRECTIONS.get(entry.operation, 1) * size_B / time_s if time_s > 0 else None,
        regime=fit.regimes[index],
        formula=formula(fit, index),
        extrapolated=extrapolated,
        factor=factor,
        concerns=_concerns(entry, size_B),
    )


def warnings(entry: Entry, predictions: Sequence[MessagePrediction]) -> list[str]:
    """Limits of the predictions: sizes that were not measured, or not well, shared cores, published models."""
    remarks = [
        f"{format_bytes(prediction.size_B)}: {text}"
        for prediction in predictions
        for text in filter(None, [prediction.remark, *prediction.concerns])
    ]
    shared = OVERSUBSCRIBED if entry.oversubscribed else ""
    return [*remarks, *filter(None, [shared, level_remark(entry), entry.source and published(entry.source)])]


def _concerns(entry: Entry, size_B: int) -> list[str]:
    """What the measurements near a size leave in doubt: two modes of times, or a marked point."""
    around = [modes for modes in entry.modes if modes.smallest_B <= size_B <= modes.largest_B]
    concerns = [
        f"measured in two modes around it: {modes.times_as_long:.2g} times as long "
        f"{percent(modes.share)} of the time"
        for modes in sorted(around, key=lambda modes: -modes.times_as_long)[:1]  # of several pairs the worst
    ]
    points = entry.measurements.points
    below = max((point for point in points if point.size_B <= size_B), key=lambda p: p.size_B, default=None)
    above = min((point for point in points if point.size_B >= size_B), key=lambda p: p.size_B, default=None)
    near = {point.size_B: of_point(point, "").marks for point in (below, above) if point is not None}
    for near_B, marks in near.items():
        if marks:
            named = ", ".join(mark for mark in MARKS if mark in marks)
            concerns.append(f"the measurement at {format_bytes(near_B)} is noisy: {named}")
    return concerns


def _pairs_around(measured: Series, size_B: int) -> tuple[float, float]:
    """The least and the largest time of the pairs around a size, as ratios to theirs together."""
    at, nodes = size_place(size_B), size_place(measured.size_B)
    least, most = (np.interp(at, nodes, end_s / measured.time_s) for end_s in (measured.low_s, measured.high_s))
    return float(least), float(most)


def _widened(time_s: float, end_s: float, times: float) -> float:
    """`end_s` as many times as far from `time_s`, by ratio; no time at all has an interval of none."""
    return time_s * (end_s / time_s) ** times if time_s > 0 else 0.0


def _outside(entry: Entry, size_B: int) -> tuple[bool, float | None]:
    sizes = [point.size_B for point in entry.measurements.points]
    if not sizes:
        return False, None
    smallest, largest = min(sizes), max(sizes)
    if smallest <= size_B <= largest:
        return False, None
    nearest = smallest if size_B < smallest else largest
    return True, size_B / nearest if nearest else None
