"""Whether the fastest of several process grids is faster than the slowest, both picked after looking."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import stats

from hockney.records.app_record import AppRecord
from hockney.statistics import NORMAL

LEVEL = 0.05
"""How often grids that take the same are told apart."""
APART = 0.05
"""Relative distance that has to be passed where there are no intervals to tell grids by."""


def are_told_apart(records: Sequence[AppRecord]) -> bool:
    """Whether the fastest and the slowest run differ, at 5 % for all pairs together (Tukey's studentized range).

    On logarithms of the times. The error of a time is its 95 % interval's, in the mean over the runs, or that of
    the two runs where theirs are wider. Where a run has no interval, whether they are `APART`.
    """
    times_s = [record.time_s for record in records]
    distance = math.log(max(times_s) / min(times_s))
    errors = [
        math.log(one.high_s / one.low_s) / (2 * NORMAL)
        for one in records
        if one.low_s is not None and one.high_s is not None and 0 < one.low_s <= one.high_s
    ]
    if len(errors) < len(records):
        return distance > math.log1p(APART)
    ends = (errors[times_s.index(min(times_s))], errors[times_s.index(max(times_s))])
    error = max(_root_mean_square(errors), _root_mean_square(ends))
    return bool(distance > error * stats.studentized_range.ppf(1 - LEVEL, len(records), math.inf))


def _root_mean_square(values: Sequence[float]) -> float:
    return math.hypot(*values) / math.sqrt(len(values))
