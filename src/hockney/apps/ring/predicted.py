"""Measured rings beside what is predicted of them, and the latency that the fitted lines give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.apps.ring.model import Link, RingPrediction, predict
from hockney.apps.ring.picture import RingCurve
from hockney.apps.ring.study import RingRun, RingSeries
from hockney.errors import RequestError
from hockney.models.over_ranks.segments import Segment, Segments
from hockney.records.record import Locality


@dataclass(frozen=True)
class RingComparison:
    """`predicted`: one for each run of the curve, None where nothing is predicted. `fitted`: its lines."""

    curve: RingSeries
    predicted: list[RingPrediction | None]
    fitted: Segments | None

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
            "segments": []
            if self.fitted is None
            else [segment_data(segment) for segment in self.fitted.segments],
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
) -> list[RingComparison]:
    """Each curve with its lines and, where there are links, its predictions for the neighbours that it had.

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

    return [
        RingComparison(curve, [predicted(run, curve.name["exchange"]) for run in curve.runs], curve.fitted())
        for curve in curves
    ]


def latency_s(segment: Segment) -> tuple[float, float, float] | None:
    """Half the slope with its 95 % interval: T(P) = c + 2λP, a process more is two messages."""
    slope = segment.slope_s()
    return None if slope is None else (slope[0] / 2, slope[1] / 2, slope[2] / 2)


def segment_data(segment: Segment) -> dict[str, Any]:
    """For `--json`."""
    latency = latency_s(segment)
    return {
        "first": segment.first,
        "last": segment.last,
        "points": segment.points,
        "begins": segment.begins,
        "intercept_s": None if segment.fit is None else segment.fit.coefficients[0],
        "slope_s": None if segment.fit is None else segment.fit.coefficients[1],
        "latency_s": None if latency is None else latency[0],
        "latency_low_s": None if latency is None else latency[1],
        "latency_high_s": None if latency is None else latency[2],
    }
