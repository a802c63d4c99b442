"""The model that `hockney fit` makes of a measured collective: a formula in P and S, and the points around.

Each algorithm and placement has terms of its own, chosen by an information criterion
(`models.collectives.fitting`). Beyond the ranks and sizes of training the formula goes on, off by as much as at
the last points.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.fitting import CollectivePoints, fit_collective
from hockney.predict.estimators._places import SURFACE
from hockney.predict.estimators.base import FittedEstimator, Prediction, Training, estimators, unknown
from hockney.predict.points import positions


@dataclass(frozen=True)
class Models:
    """A model for each algorithm and placement that was trained."""

    models: dict[Hashable, CollectiveModel]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times by the models, with intervals; NaN where an algorithm or a placement was not trained."""
        prediction = unknown(len(points))
        for key, index in positions(points, SURFACE).items():
            model = self.models.get(key)
            if model is None:
                continue
            ranks, size_B = (points[name].to_numpy(np.float64)[index] for name in ("ranks", "bytes"))
            made = model.predicted(ranks, size_B)
            prediction.time_s[index], prediction.low_s[index] = made.time_s, made.low_s
            prediction.high_s[index] = made.high_s
        missing = int(np.isnan(prediction.time_s).sum())
        note = [f"{missing} points are of an algorithm or a placement with too few training points"]
        return Prediction(prediction.time_s, prediction.low_s, prediction.high_s, note if missing else None)


@estimators.register("collective_model")
def fit(training: Training) -> FittedEstimator:
    """A model for each algorithm and placement; RequestError where all have too few points."""
    models: dict[Hashable, CollectiveModel] = {}
    for key, index in positions(training.points, SURFACE).items():
        points = training.points.iloc[index]
        first, count = points.iloc[0], len(points)
        ranks, size_B, time_s = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes", "time_s"))
        segment_B, radix = (
            0 if pd.isna(first[name]) else int(first[name]) for name in ("segment_bytes", "radix")
        )
        nothing = np.full(count, np.nan)
        try:
            models[key] = fit_collective(
                CollectivePoints(
                    training.operation,
                    str(first["algorithm"]),
                    ranks,
                    size_B,
                    time_s,
                    nothing,
                    nothing,
                    segment_B,
                    radix,
                )
            )
        except RequestError:
            continue
    if not models:
        raise RequestError("no algorithm has points enough for a model", "train on more ranks or sizes")
    return Models(models)
