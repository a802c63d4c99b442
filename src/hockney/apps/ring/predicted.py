"""Measured rings beside what is predicted of them, and the latency that the fitted lines give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.apps.ring.model import Link, Predicted, predict
from hockney.apps.ring.picture import RingCurve
from hockney.apps.ring.study import Curve, RingRun
from hockney.errors import RequestError
from hockney.models.over_ranks.segments import Segment, Segments
from hockney.records.record import Locality


@dataclass(frozen=True)
class Comparison:
    """`predicted`: one for each run of the curve, None where nothing is predicted. `fitted`: its lines."""

    curve: Curve
    predicted: list[Predicted | None]
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
                    "predicted": None if one is None else vars(one),
                    "predicted_over_measured": None if one is None else one.time_s / run.record.time_s,
                }
                for run, one in zip(self.curve.runs, self.predicted, strict=True)
            ],
            "segments": [] if self.fitted is None else [segment_data(one) for one in self.fitted.segments],
            "boundaries": [
                {**vars(one.boundary), "breaks": (one.jump is not None) if one.possible else None}
                for one in ([] if self.fitted is None else self.fitted.examined)
            ],
        }

    def drawn(self) -> RingCurve:
        """As the figure takes it."""
        records = [run.record for run in self.curve.runs]

        def array(values: Sequence[float | None]) -> Any:
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

        return RingCurve(
            array([one.ranks for one in records]),
            array([one.time_s for one in records]),
            array([one.low_s for one in records]),
            array([one.high_s for one in records]),
            array([None if one is None else one.time_s for one in self.predicted]),
            self.fitted,
            self.curve.boundaries,
        )


def compared(
    curves: Sequence[Curve],
    link_of: Callable[[Locality], Link] | None,
    model: str,
    notes: list[str],
) -> list[Comparison]:
    """Each curve with its lines and, where there are links, its predictions for the neighbours that it had.

    Why a run is not predicted is added to `notes`, once.
    """

    def predicted(run: RingRun, exchange: str) -> Predicted | None:
        if link_of is None:
            return None
        try:
            return predict(run.localities, link_of, exchange, model)
        except RequestError as error:
            if error.message not in notes:
                notes.append(error.message)
            return None

    return [
        Comparison(curve, [predicted(run, curve.name["exchange"]) for run in curve.runs], curve.fitted())
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
