"""Sizes from which on one algorithm is faster than another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

from hockney.models.base import are_faster
from hockney.models.over_ranks.choice import UNKNOWN
from hockney.models.over_ranks.points import PLACED, Configuration, positions, with_schedules_joined
from hockney.statistics import Array


@dataclass(frozen=True)
class Crossover:
    """`larger` is faster than `smaller` from a size between `low_B` and `high_B` on, `smaller` below.

    `low_B` is the largest size at which `smaller` can be told to be faster, `high_B` the next at which `larger`
    can; `at_B` is where the straight line (log–log) between the times around it crosses. `last_B`: up to where
    that holds; the largest size measured, or where they change places again.
    """

    configuration: Configuration
    ranks: int
    smaller: str
    larger: str
    at_B: float
    low_B: int
    high_B: int
    last_B: int


def crossovers(points: pd.DataFrame) -> list[Crossover]:
    """Of every two algorithms at each configuration (with nodes) and number of ranks, in the order of sizes.

    `points` as `points.points` makes them, labels told apart. Two times are told apart as
    `hockney.models.over_ranks.choice.CRITERION` says.
    """
    known = with_schedules_joined(points)
    known = known[known["ranks"].notna() & (known["bytes"] > 0)]
    labels = known["label"].to_numpy(dtype=object)
    size_B = known["bytes"].to_numpy(np.int64)
    time_s, low_s, high_s = (known[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    # An interval that is not known is no number.
    bare = np.isnan(low_s) | np.isnan(high_s)
    low_s = np.where(bare, time_s * (1 - UNKNOWN), low_s)
    high_s = np.where(bare, time_s * (1 + UNKNOWN), high_s)
    result = []
    for configuration, rows in positions(known, (*PLACED, "ranks")):
        of_label = {}
        for label in dict.fromkeys(labels[rows]):
            own = rows[labels[rows] == label]
            of_label[str(label)] = own[np.argsort(size_B[own], kind="stable")]
        for first, second in combinations(of_label, 2):
            common, *at = np.intersect1d(size_B[of_label[first]], size_B[of_label[second]], return_indices=True)
            a, b = of_label[first][at[0]], of_label[second][at[1]]
            ratio = np.log(time_s[a] / time_s[b])
            gains = are_faster(time_s[b], high_s[b], low_s[a], time_s[a])
            costs = are_faster(time_s[a], high_s[a], low_s[b], time_s[b])
            faster = gains.astype(int) - costs.astype(int)
            for sign, at_B, low_B, high_B, last_B in _changes(common, ratio, faster):
                names = (first, second) if sign > 0 else (second, first)
                result.append(
                    Crossover(configuration, int(configuration["ranks"]), *names, at_B, low_B, high_B, last_B)
                )
    return result


def _changes(size_B: Array, ratio: Array, faster: Array) -> Iterator[tuple[int, float, int, int, int]]:
    """Where the sign of `faster` changes, ties apart (1: the second is faster beyond): it, and sizes.

    These are the crossing of the lines, the last before it and the first after it, and how far that holds.
    """
    decided = np.flatnonzero(faster)
    turns = [(i, j) for i, j in pairwise(decided.tolist()) if faster[i] != faster[j]]
    for number, (i, j) in enumerate(turns):
        sign = int(faster[j])
        # The last crossing of the curves themselves between the two.
        k = max(k for k in range(i, j) if sign * ratio[k] <= 0 < sign * ratio[k + 1])
        share = ratio[k] / (ratio[k] - ratio[k + 1])
        at_B = math.exp(math.log(size_B[k]) + share * math.log(size_B[k + 1] / size_B[k]))
        last = turns[number + 1][0] if number + 1 < len(turns) else size_B.size - 1
        yield sign, at_B, int(size_B[i]), int(size_B[j]), int(size_B[last])
