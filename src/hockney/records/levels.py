"""The levels of a machine: what it does at times faster and at times slower, for seconds, as its references say.

Where a hypervisor runs a virtual processor, what a neighbour does or which frequency a processor has moves all
times by a factor, and no disturbance of a single sample tells it. A reference, the same short exchange timed before
and after each group of samples, does: bracketing, as metrology calls it. Levels are found in all references of the
same ranks; a group counts for a level where the references on both its sides lie in it.

Two levels are told apart by a stated criterion, on the running median of five references, a logarithm each:

- their medians lie `LEAST_RATIO` and `SEPARATION` spreads (of the wider one, from its quartiles) apart;
- between the inner deciles of the two a share `VALLEY` of that distance is all but empty;
- the machine jumps from one to the other: a share `JUMPS` of the changes pass through `JUMP` of the distance within
  three references. Correlated noise wanders, and comes back slowly from far out;
- it stays: the rarer has `STAY` references at least, and the share `LEAST_SHARE` of both.

A Gaussian mixture with an information criterion splits correlated and heavy-tailed streams that have one level:
see tests/records/test_levels.py for how often this criterion does, and how often it finds what was planted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STAY = 5
LEAST_SHARE = 0.02
LEAST_RATIO = 1.08
SEPARATION = 3.5
VALLEY = 0.3
JUMP, JUMPS = 0.6, 0.7

LEAST_SPREAD = 0.005
"""Quartiles of few references may lie closer than a clock can tell."""
WIDTH = 3.0
"""How many spreads from its median a level reaches, and `LEAST_RATIO` halved at least, short of the next one."""
UNEASY = 0.5
"""A reference whose quartiles lie further apart than this share of it was disturbed itself."""


@dataclass(frozen=True)
class Level:
    """A level of the machine for the same ranks: `reference_s` is the median of its references.

    A reference from `low_s` to `high_s` lies in it. `share`: of the undisturbed references. `stay`: references in
    a row, the median of its stays.
    """

    reference_s: float
    low_s: float
    high_s: float
    share: float
    stay: float

    def holds(self, reference_s: float) -> bool:
        """Whether a reference lies in the level."""
        return self.low_s <= reference_s <= self.high_s


def find_levels(reference_s: Sequence[float], iqr_s: Sequence[float]) -> list[Level]:
    """The levels in the references of the same ranks, shape (n,), in the order of time; the fastest comes first.

    `iqr_s`: the distance between the quartiles of each reference. No level without an undisturbed reference.
    """
    times_s, iqrs_s = np.asarray(reference_s, dtype=np.float64), np.asarray(iqr_s, dtype=np.float64)
    logs = _running_median(np.log(times_s[iqrs_s <= UNEASY * times_s]))
    if logs.size == 0:
        return []
    cuts = _cuts(logs, -math.inf, math.inf)
    return [_level(logs, low, high) for low, high in zip([-math.inf, *cuts], [*cuts, math.inf], strict=True)]


def common(levels: Sequence[Level]) -> Level:
    """The level with the largest share; of two alike the faster."""
    return max(levels, key=lambda level: (level.share, -level.reference_s))


def _running_median(logs: Array) -> Array:
    if logs.size < STAY:
        return logs
    middle = np.median(np.lib.stride_tricks.sliding_window_view(logs, STAY), axis=1)
    return np.concatenate([np.full(STAY // 2, middle[0]), middle, np.full(STAY // 2, middle[-1])])


def _cuts(logs: Array, low: float, high: float) -> list[float]:
    """Where to cut the range between the logarithms `low` and `high` into levels, ascending."""
    cut = _cut(logs[(logs >= low) & (logs < high)])
    return [] if cut is None else [*_cuts(logs, low, cut), cut, *_cuts(logs, cut, high)]


def _cut(logs: Array) -> float | None:
    """Where logarithms, in the order of time, are best cut in two; None where they are one level."""
    ordered, count = np.sort(logs), logs.size
    least = max(STAY, math.ceil(LEAST_SHARE * count))
    below = np.arange(least, count - least + 1)
    if below.size == 0:
        return None
    first, last = np.zeros_like(below), np.full_like(below, count)
    distance = _quantile(ordered, below, last, 0.5) - _quantile(ordered, first, below, 0.5)
    spread = np.maximum(_spread(ordered, first, below), _spread(ordered, below, last))
    valley = _quantile(ordered, below, last, 0.1) - _quantile(ordered, first, below, 0.9)
    is_apart = (distance >= math.log(LEAST_RATIO)) & (distance >= SEPARATION * spread)
    is_apart &= valley >= VALLEY * distance
    if not is_apart.any():
        return None
    gap = np.where(is_apart, ordered[below] - ordered[below - 1], -1.0)
    widest = int(np.argmax(gap))
    cut = float(ordered[below[widest]] + ordered[below[widest] - 1]) / 2
    changes = np.flatnonzero(np.diff(logs > cut))
    steps = np.abs(logs[np.minimum(changes + 2, count - 1)] - logs[np.maximum(changes - 1, 0)])
    return cut if np.mean(steps >= JUMP * distance[widest]) >= JUMPS else None


def _quantile(ordered: Array, first: NDArray[np.int_], last: NDArray[np.int_], level: float) -> Array:
    """The quantile of each slice `ordered[first:last]`, as numpy's default interpolates it."""
    position = first + level * (last - 1 - first)
    before = position.astype(np.int_)
    after = np.minimum(before + 1, ordered.size - 1)
    quantile: Array = ordered[before] + (position - before) * (ordered[after] - ordered[before])
    return quantile


def _spread(ordered: Array, first: NDArray[np.int_], last: NDArray[np.int_]) -> Array:
    """The standard deviation that normal values with these quartiles would have."""
    quartiles = _quantile(ordered, first, last, 0.75) - _quantile(ordered, first, last, 0.25)
    return np.maximum(quartiles / 1.349, LEAST_SPREAD)


def _level(logs: Array, low: float, high: float) -> Level:
    is_in = (logs >= low) & (logs < high)
    ordered = np.sort(logs[is_in])
    centre = float(np.median(ordered))
    whole = np.array([0]), np.array([ordered.size])
    reach = max(WIDTH * float(_spread(ordered, *whole)[0]), math.log(LEAST_RATIO) / 2)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]])))
    return Level(
        math.exp(centre),
        math.exp(max(low, centre - reach)),
        math.exp(min(high, centre + reach)),
        float(np.mean(is_in)),
        float(np.median(edges[1::2] - edges[::2])),
    )
