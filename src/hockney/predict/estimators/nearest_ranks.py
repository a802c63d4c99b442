"""The baseline of no growth: the time of the trained run with such a size whose number of ranks is nearest.

Nearest by the ratio of ranks, the larger of two at the same ratio. Between two sizes of a run ln time is a
straight line over ln bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.predict.estimators._places import SURFACE, means, places
from hockney.predict.estimators.base import Array, FittedEstimator, Prediction, Training, estimators, unknown
from hockney.predict.points import positions


@dataclass(frozen=True)
class Runs:
    """Of each algorithm and placement the trained places, shape (n, 2), and ln seconds there, (n,)."""

    trained: dict[Hashable, tuple[Array, Array]]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of the nearest runs with a size on either side; NaN where none has. Without intervals."""
        prediction = unknown(len(points))
        for key, index in positions(points, SURFACE).items():
            if key in self.trained:
                prediction.time_s[index] = np.exp(_at(places(points.iloc[index]), *self.trained[key]))
        missing = int(np.isnan(prediction.time_s).sum())
        note = [f"{missing} points: no run of their algorithm and placement has such a size"]
        return Prediction(prediction.time_s, prediction.low_s, prediction.high_s, note if missing else None)


def _at(asked: Array, trained: Array, time_ln: Array) -> Array:
    """ln seconds at places (n, 2)."""
    found = np.full(len(asked), np.nan)
    runs = {ranks: trained[:, 0] == ranks for ranks in np.unique(trained[:, 0])}
    for ranks in np.unique(asked[:, 0]):
        here = np.flatnonzero(asked[:, 0] == ranks)
        for nearest in _nearest_first(runs, ranks):
            run, open_ = runs[nearest], here[np.isnan(found[here])]
            found[open_] = np.interp(asked[open_, 1], trained[run, 1], time_ln[run], left=np.nan, right=np.nan)
    return found


def _nearest_first(known: Iterable[float], ranks: float) -> list[float]:
    """ln ranks, the one nearest to `ranks` first, of two the larger."""
    # Rounded, because 8 is as near to 4 as to 16.
    return sorted(known, key=lambda other: (round(abs(other - ranks), 9), -other))


@estimators.register("nearest_ranks")
def fit(training: Training) -> FittedEstimator:
    """The training points themselves."""
    groups = positions(training.points, SURFACE)
    return Runs({key: means(training.points.iloc[index]) for key, index in groups.items()})
