"""The baseline that needs no model: what lies between trained neighbours.

ln time is a plane over ln ranks and ln bytes on each triangle of neighbouring training points (Delaunay's
triangulation). It says nothing outside of what the points of an algorithm and placement enclose.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import numpy as np
import pandas as pd
from scipy import interpolate, spatial

from hockney.predict.estimators._places import SURFACE, means, places
from hockney.predict.estimators.base import Array, FittedEstimator, GroupModels, GroupTimes, Training, estimators
from hockney.predict.points import positions

FLAT = 1e-6
"""Points that are no farther than this from a line enclose nothing: far beyond the rounding of logarithms, and no
more than one rank or one byte changes the logarithm of a million."""


@estimators.register("interpolation")
def fit(training: Training) -> FittedEstimator:
    """Triangles, for each algorithm and placement whose points enclose anything."""
    planes: dict[Hashable, GroupTimes] = {}
    for key, index in positions(training.points, SURFACE).items():
        at, time_ln = means(training.points.iloc[index])
        axes = [0, 1, 2] if np.ptp(at[:, 2]) > FLAT else [0, 1]
        # One number of ranks is a line, one size, and a size in proportion to the ranks.
        if np.linalg.matrix_rank(at - at[0], tol=FLAT) < len(axes):
            continue
        try:
            plane = interpolate.LinearNDInterpolator(at[:, axes], time_ln, rescale=True)
            planes[key] = partial(_between, plane, axes)
        except spatial.QhullError:  # it has bounds of its own for what encloses nothing
            continue
    return GroupModels(SURFACE, planes, "do not lie between training points of their algorithm and placement")


def _between(
    plane: interpolate.LinearNDInterpolator, axes: list[int], points: pd.DataFrame
) -> tuple[Array, float, float]:
    """Times between the neighbours, without intervals; NaN outside of them."""
    return np.exp(plane(places(points)[:, axes])), np.nan, np.nan
