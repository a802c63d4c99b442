"""Which of several process grids is faster: whether the fastest and the slowest, picked after looking, differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import stats

from hockney.apps.stencil.measured import stencil_of
from hockney.records.app_record import AppRecord
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.statistics import NORMAL
from hockney.units import counted
from hockney.words import grouped

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
        math.log(record.high_s / record.low_s) / (2 * NORMAL)
        for record in records
        if record.low_s is not None and record.high_s is not None and 0 < record.low_s <= record.high_s
    ]
    if len(errors) < len(records):
        return distance > math.log1p(APART)
    ends = (errors[times_s.index(min(times_s))], errors[times_s.index(max(times_s))])
    error = max(_root_mean_square(errors), _root_mean_square(ends))
    return bool(distance > error * stats.studentized_range.ppf(1 - LEVEL, len(records), math.inf))


def _root_mean_square(values: Sequence[float]) -> float:
    return math.hypot(*values) / math.sqrt(len(values))


def most_ranks_with_grids(records: Sequence[AppRecord]) -> int:
    """The largest number of ranks on which there are several grids; 0 without."""
    of_counts = grouped(records, lambda record: record.ranks)
    return max((n for n, runs in of_counts.items() if len({stencil_of(run).grid for run in runs}) > 1), default=0)


def which_grid(head: str, records: Sequence[AppRecord], anchor: str, weight: float) -> list[Finding]:
    """Which grid, on the most ranks of which there are several; `head` names what runs."""
    ranks = most_ranks_with_grids(records)
    if not ranks:
        return []
    ordered = sorted((record for record in records if record.ranks == ranks), key=lambda record: record.time_s)
    if not are_told_apart(ordered):
        text = f"{head}: on {ranks} ranks no process grid differs from the others by more than chance."
        return [Finding(text, anchor, 0.3)]
    best, worst = ordered[0], ordered[-1]
    margin = percent(worst.time_s / best.time_s - 1)
    without = "" if all(record.high_s is not None for record in ordered) else "; not all runs have intervals"
    grids = f"the grid {stencil_of(best).grid} is {margin} faster than {stencil_of(worst).grid}"
    return [Finding(f"{head}: on {counted(ranks, 'rank')} {grids}{without}.", anchor, weight)]
