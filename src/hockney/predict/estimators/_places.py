"""Where points lie for estimators that know of an algorithm and a placement no more than their times."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hockney.predict.estimators.base import Array
from hockney.predict.points import GROWING, POINT, is_grid
from hockney.records.series import size_place

SURFACE = tuple(name for name in POINT if name not in (*GROWING, "bytes"))
"""What a surface over ranks and bytes holds fixed."""
SLICE = (*SURFACE, "ppn")
"""What a curve over ranks and bytes holds fixed: on a grid the ranks a node, too."""


def places(points: pd.DataFrame) -> Array:
    """ln nodes, the place of the size and ln ranks a node, shape (n, 3); off a grid ln ranks, the size and 0."""
    ranks, size_B = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes"))
    ppn = np.where(is_grid(points), points["ppn"].to_numpy(np.float64, na_value=1.0), 1.0)
    return np.column_stack([np.log(ranks / ppn), size_place(size_B), np.log(ppn)])


def means(points: pd.DataFrame) -> tuple[Array, Array]:
    """The different places, shape (n, 3), sorted, and the mean of ln seconds at each, (n,)."""
    where, number = np.unique(places(points), axis=0, return_inverse=True)
    number = number.ravel()
    return where, np.bincount(number, np.log(points["time_s"].to_numpy(np.float64))) / np.bincount(number)
