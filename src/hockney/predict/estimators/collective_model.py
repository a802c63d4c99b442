"""The model that `hockney fit` makes of a measured collective: a formula in P and S, and the points around.

Each algorithm and placement has terms of its own, chosen by an information criterion
(`models.collectives.fitting`). Beyond the ranks and sizes of training the formula goes on, off by as much as at
the last points.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.fitting import fit_collective
from hockney.models.collectives.pieces import CollectivePoints
from hockney.predict.estimators._places import SLICE
from hockney.predict.estimators.base import Array, FittedEstimator, GroupModels, GroupTimes, Training, estimators
from hockney.predict.points import positions, sliced


@estimators.register("collective_model")
def fit(training: Training) -> FittedEstimator:
    """A model for each algorithm and placement; RequestError where all have too few points."""
    models: dict[Hashable, GroupTimes] = {}
    for key, index in positions(sliced(training.points), SLICE).items():
        points = training.points.iloc[index]
        first, nothing = points.iloc[0], np.full(len(points), np.nan)
        ranks, size_B, time_s = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes", "time_s"))
        segment_B, radix = (
            0 if pd.isna(first[name]) else int(first[name]) for name in ("segment_bytes", "radix")
        )
        names, without = (training.operation, str(first["algorithm"])), (nothing, nothing)
        measured = CollectivePoints(*names, ranks, size_B, time_s, *without, segment_B, radix)
        if (model := fit_collective(measured)).regimes:
            models[key] = partial(_times, model)
    if not models:
        raise RequestError("no algorithm has points enough for a model", "train on more ranks or sizes")
    return GroupModels(SLICE, models, "are of an algorithm or a placement with too few training points")


def _times(model: CollectiveModel, points: pd.DataFrame) -> tuple[Array, Array, Array]:
    made = model.predicted(*(points[name].to_numpy(np.float64) for name in ("ranks", "bytes")))
    return made.time_s, made.low_s, made.high_s
