"""The baseline that needs no model: what lies between trained neighbours.

ln time is a plane over ln ranks and ln bytes on each triangle of neighbouring training points (Delaunay's
triangulation). It says nothing outside of what the points of an algorithm and placement enclose.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import QhullError

from hockney.predict.estimators._places import SURFACE, means, places
from hockney.predict.estimators.base import Array, FittedEstimator, Prediction, Training, estimators, unknown
from hockney.predict.points import positions

FLAT = 1e-6
"""Points that are no farther than this from a line enclose nothing: far beyond the rounding of logarithms, and no
more than one rank or one byte changes the logarithm of a million."""


@dataclass(frozen=True)
class Planes:
    """ln seconds, shape (n,), between the training points of each algorithm and placement, at places (n, 2)."""

    between: dict[Hashable, Callable[[Array], Array]]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times between the neighbours; NaN outside of them. Without intervals."""
        prediction = unknown(len(points))
        for key, index in positions(points, SURFACE).items():
            if key in self.between:
                prediction.time_s[index] = np.exp(self.between[key](places(points.iloc[index])))
        missing = int(np.isnan(prediction.time_s).sum())
        note = [f"{missing} points do not lie between training points of their algorithm and placement"]
        return Prediction(prediction.time_s, prediction.low_s, prediction.high_s, note if missing else None)


@estimators.register("interpolation")
def fit(training: Training) -> FittedEstimator:
    """Triangles, for each algorithm and placement whose points enclose anything."""
    between: dict[Hashable, Callable[[Array], Array]] = {}
    for key, index in positions(training.points, SURFACE).items():
        at, time_ln = means(training.points.iloc[index])
        # One number of ranks is a line, one size, and a size in proportion to the ranks.
        if np.linalg.matrix_rank(at - at[0], tol=FLAT) < 2:
            continue
        try:
            between[key] = LinearNDInterpolator(at, time_ln, rescale=True)
        except QhullError:  # it has bounds of its own for what encloses nothing
            continue
    return Planes(between)
