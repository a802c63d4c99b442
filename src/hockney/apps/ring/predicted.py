"""Measured rings beside what is predicted of them, and the lines that are fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.apps.ring.lines import LatencyLine, latency_lines, line_data
from hockney.apps.ring.model import Link, RingPrediction, predict
from hockney.apps.ring.study import RingRun, RingSeries
from hockney.errors import RequestError
from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.segments import Segments
from hockney.records.record import Locality
from hockney.statistics import Array
from hockney.units import format_time


@dataclass(frozen=True)
class RingCurve:
    """Arrays of shape (points,), seconds; NaN where there is no bound or no prediction."""

    ranks: Array
    time_s: Array
    low_s: Array
    high_s: Array
    predicted_s: Array
    fitted: Segments | None
    boundaries: Sequence[Boundary]


@dataclass(frozen=True)
class RingComparison:
    """`predicted`: one for each run of the curve, None where nothing is predicted; `lines` are those `fitted`."""

    curve: RingSeries
    predicted: list[RingPrediction | None]
    fitted: Segments | None
    lines: list[LatencyLine]

    def as_data(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            **self.curve.name,
            "points": [
                {
                    "ranks": run.record.ranks,
                    "time_s": run.record.time_s,
                    "low_s": run.record.low_s,
                    "high_s": run.record.high_s,
                    "localities": sorted(set(run.localities)),
                    "predicted": None if prediction is None else vars(prediction),
                    "predicted_over_measured": None
                    if prediction is None
                    else prediction.time_s / run.record.time_s,
                }
                for run, prediction in zip(self.curve.runs, self.predicted, strict=True)
            ],
            "segments": [line_data(line) for line in self.lines],
            "boundaries": [
                {**vars(tested.boundary), "breaks": (tested.jump is not None) if tested.possible else None}
                for tested in ([] if self.fitted is None else self.fitted.examined)
            ],
        }

    def drawn(self) -> RingCurve:
        """As the figure takes it."""
        records = [run.record for run in self.curve.runs]

        def array(values: Sequence[float | None]) -> Any:
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

        return RingCurve(
            array([entry.ranks for entry in records]),
            array([entry.time_s for entry in records]),
            array([entry.low_s for entry in records]),
            array([entry.high_s for entry in records]),
            array([None if entry is None else entry.time_s for entry in self.predicted]),
            self.fitted,
            self.curve.boundaries,
        )


def compared(
    curves: Sequence[RingSeries],
    link_of: Callable[[Locality], Link] | None,
    model: str,
    notes: list[str],
    pingpong: Callable[[Locality], Link | None] = lambda _: None,
) -> list[RingComparison]:
    """Each curve with its lines and, where there are links, its predictions for the neighbours that it had.

    `pingpong` says what a ping-pong of 4 B takes at a locality, None where that was not measured.

    Why a run is not predicted is added to `notes`, once.
    """

    def predicted(run: RingRun, exchange: str) -> RingPrediction | None:
        if link_of is None:
            return None
        try:
            return predict(run.localities, link_of, exchange, model)
        except RequestError as error:
            if error.message not in notes:
                notes.append(error.message)
            return None

    compared = []
    for curve in curves:
        fitted = curve.fitted()
        of_runs = [predicted(run, curve.name["exchange"]) for run in curve.runs]
        compared.append(RingComparison(curve, of_runs, fitted, latency_lines(curve, fitted, pingpong)))
    return compared


def in_words(comparison: RingComparison) -> list[str]:
    """The lines of a curve and its boundaries without a break; nothing of a single run."""
    if comparison.fitted is None or len(comparison.curve.runs) < 2:
        return []
    lines = [_line(line) for line in comparison.lines]
    untold = [tested for tested in comparison.fitted.examined if not tested.possible]
    for tested in comparison.fitted.examined:
        if tested.possible and tested.jump is None:
            lines.append(f"{_begins(tested.boundary)}: no break")
    if len(untold) == 1:
        lines.append(f"{_begins(untold[0].boundary)}: too few numbers of processes to tell")
    elif untold:
        # Of ranks that have a node each, every one is a boundary.
        lines.append(f"  at {len(untold)} places where something begins: too few numbers of processes to tell")
    return lines


def _begins(boundary: Boundary) -> str:
    return f"  {boundary.before} to {boundary.after}, another {boundary.level} begins"


def _line(line: LatencyLine) -> str:
    segment, latency, ratio = line.segment, line.latency_s, line.ratio
    begins = f" (another {segment.begins} begins)" if segment.begins else ""
    where = f"  {segment.first} to {segment.last} processes{begins}: "
    if latency is None or segment.fit is None:
        return f"{where}{segment.points} numbers of processes: too few for a line"
    value_s, low_s, high_s = latency
    interval = f"95 %: {signed(low_s)} to {signed(high_s)}"
    text = f"{where}latency of a message = slope/2 = {signed(value_s)} ({interval})"
    text += f", adjusted R² {segment.fit.adjusted_r2:.4f}"
    if ratio is not None:
        text += f"; {ratio[0]:.3g} of a ping-pong ({line.locality}; 95 %: {ratio[1]:.3g} to {ratio[2]:.3g})"
    return text


def signed(time_s: float) -> str:
    return f"−{format_time(-time_s)}" if time_s < 0 else format_time(time_s)
