"""Where points lie for estimators that know of an algorithm and a placement no more than their times."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hockney.predict.estimators.base import Array
from hockney.predict.points import GROWING, POINT
from hockney.records.series import size_place

SURFACE = tuple(name for name in POINT if name not in (*GROWING, "bytes"))
"""What a surface over ranks and bytes holds fixed."""


def places(points: pd.DataFrame) -> Array:
    """ln ranks and the place of the size, shape (n, 2)."""
    ranks, size_B = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes"))
    return np.column_stack([np.log(ranks), size_place(size_B)])


def means(points: pd.DataFrame) -> tuple[Array, Array]:
    """The different places, shape (n, 2), sorted, and the mean of ln seconds at each, (n,)."""
    where, number = np.unique(places(points), axis=0, return_inverse=True)
    number = number.ravel()
    return where, np.bincount(number, np.log(points["time_s"].to_numpy(np.float64))) / np.bincount(number)
