"""The same measurements in two files: a table made from results that lie beside it, or a table twice."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from hockney.statistics import Array

SAME_SHARE = 0.9
"""Least share of equal values, among the points that two files share, at which one file counts as a copy.
Independent runs agree less often, even where they print few digits."""
SAME_VALUE = 1e-9
"""Relative. Conversions of units change the last of sixteen digits."""


def copied(
    point: NDArray[np.int64], value: Array, own: NDArray[np.bool_], others: NDArray[np.bool_]
) -> list[int]:
    """The places of `own` records that are among `others` too, with the same value; none where merely similar.

    Shapes (records,). `point` is the same number for records of one point, whatever program measured it: a table
    need not name it. Each of `others` has one copy.
    """
    shared = own & np.isin(point, point[others])
    known: dict[int, list[float]] = defaultdict(list)
    for place in np.flatnonzero(others & np.isin(point, point[shared])).tolist():
        known[point[place]].append(value[place])
    matches: list[int] = []
    for place in np.flatnonzero(shared).tolist():
        of_point = known[point[place]]
        same = [other for other in of_point if math.isclose(other, value[place], rel_tol=SAME_VALUE)]
        if same:
            of_point.remove(same[0])
            matches.append(place)
    return matches if len(matches) >= SAME_SHARE * np.count_nonzero(shared) else []
