"""What answers from a table: schedules simulated, and where these have no time the combination of curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.predict.estimators.base import (
    ANSWER,
    FALLBACK,
    Array,
    Correction,
    FittedEstimator,
    Prediction,
    Training,
    estimators,
    unknown,
)
from hockney.predict.estimators.combination import usual
from hockney.predict.estimators.linear_in_ranks import Trend
from hockney.predict.points import is_grid


@dataclass(frozen=True)
class TableAnswer:
    """Fitted to the training points; `why` there is nothing simulated, empty where there is."""

    training: Training
    simulated: FittedEstimator | None
    why: str = ""

    @cached_property
    def _fallback(self) -> FittedEstimator:
        points = usual(self.training.points, is_grid=True)
        return estimators.get(FALLBACK)(replace(self.training, points=points))

    @cached_property
    def _is_grid(self) -> bool:
        return bool(is_grid(self.training.points).all())

    @cached_property
    def _trend(self) -> Trend:
        return Trend.of(self.training.points)

    def trend_s(self, points: pd.DataFrame) -> Array:
        """See `Trend`."""
        return self._trend.at(self._in_blocks(points))

    def _in_blocks(self, points: pd.DataFrame) -> pd.DataFrame:
        """Where a grid was trained and no ranks a node are asked for: as many as a node had at most."""
        if not self._is_grid:
            return points
        ppn = points["ppn"].fillna(points["ranks"].clip(upper=self.training.points["ppn"].max()))
        return points.assign(ppn=ppn, nodes=points["nodes"].fillna(-(-points["ranks"] // ppn)))

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of `points`; `correction.readable_s` is NaN where the combination answers."""
        points = self._in_blocks(points)
        prediction = self.simulated.predict(points) if self.simulated else unknown(len(points))
        correction = prediction.correction or Correction(unknown(len(points)).time_s, np.zeros(len(points)))
        # Whether an empty message is sent at all no other size shows.
        least_B = int(self.training.points["bytes"].min())
        lacking = np.isnan(prediction.time_s) & (points["bytes"] >= min(least_B, 1)).to_numpy(dtype=np.bool_)
        notes = [*([self.why] if self.why else []), *(prediction.note or [])]
        if lacking.any():
            left = points[lacking].reset_index(drop=True)
            # A table without ranks a node is no grid, whatever is asked.
            other = self._fallback.predict(usual(left, is_grid=self._is_grid))
            for name in ("time_s", "low_s", "high_s"):
                getattr(prediction, name)[lacking] = getattr(other, name)
            notes += [f"{FALLBACK}: {note}" for note in other.note or []]
        return replace(prediction, note=notes, correction=correction)


def answer(training: Training) -> TableAnswer:
    """What answers by these points, whether or not anything of them can be simulated."""
    # What other statistics say of a default serves the schedules alone.
    alone = replace(training, beside={})
    try:
        return TableAnswer(alone, estimators.get(ANSWER)(training))
    except RequestError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return TableAnswer(alone, None, f"not simulated: {error.message}{hint}")
