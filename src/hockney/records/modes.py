"""Two modes of times at one level of the references, which are short and cannot see what moves large messages.

A neighbour on the memory bus, say, moves neighbouring sizes by the same ratio, for some time. So each group's
median is divided by the time of its own point when it was quick, and levels are looked for in these ratios, in
the order of time, by the criterion that tells levels of references apart (`hockney.records.levels`). Each visit
has a place in memory of its own, which moves it by some percent; so modes are `LEAST_RATIO` apart at least, and
the slower was met by `LEAST_VISITS` visits, at `LEAST_SIZES` sizes. tests/records/test_modes.py says how often
this finds what is not there, and what is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median

import numpy as np
from numpy.typing import NDArray

from hockney.records.columns import SAME_RANKS, VISITED, names
from hockney.records.levels import common, find_levels, groups_at
from hockney.records.record import Record
from hockney.records.visits import SUBTRACTED, Choice, Levels, ranks_of
from hockney.units import counted, format_bytes, percent

QUICK = 0.1
"""The quantile of a point's groups that stands for its time in the quicker mode."""
LEAST_RATIO = 1.15
LEAST_VISITS, LEAST_SIZES = 5, 3
MET = 2
"""Groups by which a visit, or all of it if it has fewer, has met the slower mode."""

_series = attrgetter(*SAME_RANKS, *names("choice", "call"))
_point = attrgetter(*VISITED)


@dataclass(frozen=True)
class Modes:
    """From `smallest_B` to `largest_B` bytes the times of a series fall in two modes at one level of references.

    The slower takes `times_as_long`, and has the share `share` of the groups of these sizes. `example`: a record
    of the series.
    """

    example: Record
    smallest_B: int
    largest_B: int
    times_as_long: float
    share: float

    def concern(self, record: Record) -> bool:
        """Whether the record is of a point where the modes were met."""
        return self.smallest_B <= record.bytes <= self.largest_B and _series(record) == _series(self.example)


@dataclass(frozen=True)
class _Groups:
    """The groups of the visits of one series, in the order of time, shape (n,)."""

    visit: NDArray[np.int_]
    size_B: NDArray[np.int_]
    ratio: NDArray[np.float64]
    """Its median beside the time of its point when it was quick."""


def find_modes(records: Sequence[Record], levels: Levels, choice: Choice = common) -> list[Modes]:
    """The modes of each series at the chosen level of its ranks, from records in the order of time.

    Nothing is said of series without references, and of times that are a difference of two.
    """
    series: dict[object, list[tuple[Record, list[float]]]] = {}
    for record in records:
        level = choice(of_ranks) if (of_ranks := levels.get(ranks_of(record), ())) else None
        if level is None or record.oversubscribed or record.verified is False or record.operation in SUBTRACTED:
            continue
        if min(record.samples, default=0) <= 0:
            continue  # a ratio to no time means nothing
        medians_s = [median(record.samples[group]) for group in groups_at(record, len(record.samples), level)]
        if medians_s:
            series.setdefault(_series(record), []).append((record, medians_s))
    return [
        modes
        for visits in series.values()
        if (modes := _modes(visits[0][0], _groups(visits), len(visits))) is not None
    ]


ENOUGH_LAUNCHES = 5
"""To meet both states."""


def modes_in_words(modes: Sequence[Modes], launches: int = 1) -> str:
    """What was found in so many launches, the farthest apart first; empty where nothing was."""
    if not modes:
        return ""
    first, *others = sorted(modes, key=lambda each: -each.times_as_long)
    more = f", and {counted(len(others), 'further series', plural='further series')}" if others else ""
    sizes = f"{format_bytes(first.smallest_B)} to {format_bytes(first.largest_B)}"
    state = f"{first.times_as_long:.2g} × as long in {percent(first.share)} of the time{more}"
    return (
        f"Times switch between a fast and a slow state: {_where(first.example)}, {sizes}, {state}. "
        f"One launch may catch either{': use --launches 5' * (launches < ENOUGH_LAUNCHES)}."
    )


def _where(record: Record) -> str:
    algorithm = "" if record.algorithm == "default" else record.algorithm
    ranks = f"ranks {record.pair}" if record.pair else f"{counted(record.ranks, 'rank')}" if record.ranks else ""
    return ", ".join(filter(None, [record.operation, algorithm, record.locality, ranks]))


def _groups(visits: Sequence[tuple[Record, Sequence[float]]]) -> _Groups:
    """The groups of visits of one series, each with the medians of its groups."""
    of_point: dict[object, list[float]] = {}
    for record, medians_s in visits:
        of_point.setdefault(_point(record), []).extend(medians_s)
    quick_s = {point: float(np.quantile(medians_s, QUICK)) for point, medians_s in of_point.items()}
    counts = [len(medians_s) for _, medians_s in visits]
    return _Groups(
        np.repeat(np.arange(len(visits)), counts),
        np.repeat([record.bytes for record, _ in visits], counts),
        np.concatenate([np.array(medians_s) / quick_s[_point(record)] for record, medians_s in visits]),
    )


def _modes(example: Record, groups: _Groups, visits: int) -> Modes | None:
    for is_within in _ranges(groups.size_B):
        ratio = groups.ratio[is_within].tolist()
        levels = find_levels(ratio, [0.0] * len(ratio))
        if len(levels) == 1:
            continue
        quick, slow = levels[0], common(levels[1:])
        times_as_long = slow.reference_s / quick.reference_s
        between = math.sqrt(quick.reference_s * levels[1].reference_s)
        is_slow = is_within & (groups.ratio > between)
        counts = np.bincount(groups.visit[is_slow], minlength=visits)
        has_met = counts >= np.minimum(MET, np.bincount(groups.visit, minlength=visits))
        met_B = np.unique(groups.size_B[has_met[groups.visit]])
        if times_as_long < LEAST_RATIO or has_met.sum() < LEAST_VISITS or met_B.size < LEAST_SIZES:
            continue
        low_B, high_B = _most_slow(groups.size_B, is_slow)
        is_between = (groups.size_B >= low_B) & (groups.size_B <= high_B)
        return Modes(example, low_B, high_B, times_as_long, float(np.mean(is_slow[is_between])))
    return None


def _most_slow(size_B: NDArray[np.int_], is_slow: NDArray[np.bool_]) -> tuple[int, int]:
    """The smallest and the largest size of the range in which slow groups exceed half their share by most."""
    sizes_B, place = np.unique(size_B, return_inverse=True)
    excess = np.bincount(place, is_slow - is_slow.mean() / 2)
    total = np.concatenate([[0.0], np.cumsum(excess)])
    of_range = np.triu(total[None, 1:] - total[:-1, None])
    first, last = np.unravel_index(np.argmax(of_range), of_range.shape)
    return int(sizes_B[first]), int(sizes_B[last])


def _ranges(size_B: NDArray[np.int_]) -> Iterator[NDArray[np.bool_]]:
    """Which groups to look at together: all, those of the larger half of the sizes, and of the smaller half."""
    middle_B = np.median(np.unique(size_B))
    yield np.ones(size_B.shape, dtype=bool)
    yield size_B >= middle_B
    yield size_B <= middle_B
