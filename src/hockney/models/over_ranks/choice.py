"""Which algorithm is fastest where, and what the library's own choice costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.models.over_ranks.points import (
    PLACED,
    Configuration,
    Visits,
    positions,
    same_schedule,
    visits_at,
    with_schedules_joined,
)
from hockney.records.visits import ByLaunch, ratio_in_pairs, taken_together

DEFAULT = "default"
TIE = 0.02
"""Times closer than this share count as equal, however narrow their intervals."""
UNKNOWN = 0.1
"""Half the width, as a share, that the interval of a time gets where the table has none for it."""
CRITERION = (
    "An algorithm, the default among them, is called faster than another only where their times differ by more "
    "than 2 %, and by more than chance: where a campaign visited them beside each other at least 12 times, the "
    "95 % interval of the ratio of such visits lies on one side of 1; elsewhere their own 95 % intervals do not "
    "overlap. A time without an interval is taken as ±10 %. Algorithms that make the same schedule, as a chain "
    "and a binary tree of two ranks do, have one time, of all their measurements."
)
"""`TIE` and `UNKNOWN` in words."""


@dataclass(frozen=True)
class AlgorithmChoice:
    """One configuration, rank count and size.

    `best` has the smallest median of all `candidates`, but for one that visits beside its own tell to be slower
    than another. The library's own choice is among them: `default` is its name, None where it was not measured.
    `ties` are the others that cannot be told from the best.
    """

    configuration: Configuration
    ranks: int
    bytes: int
    best: str
    best_s: float
    ties: tuple[str, ...]
    candidates: int
    default: str | None
    default_s: float | None

    @property
    def is_default_slower(self) -> bool:
        """Whether the default can be told from what is faster."""
        return self.default is not None and self.default not in (self.best, *self.ties)

    @property
    def penalty(self) -> float | None:
        """Time of the default over that of the best; 1 where they are not told apart, None without a default."""
        if self.default_s is None:
            return None
        return self.default_s / self.best_s if self.is_default_slower else 1.0


def choices(points: pd.DataFrame, visits: Visits | None = None) -> list[AlgorithmChoice]:
    """One for each (configuration with nodes, ranks, size) with two algorithms beside the default, in order.

    `points` as `points.points` makes them, and `visits` of them as `points.visits_of` does; ranks that are
    unknown are 0.
    """
    schedules = points["schedule"].tolist()
    known = with_schedules_joined(points).assign(ranks=points["ranks"].fillna(0).astype(int))
    time_s, low_s, high_s = (known[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    bare = ~(low_s < high_s)
    low_s = np.where(bare, time_s * (1 - UNKNOWN), low_s)
    high_s = np.where(bare, time_s * (1 + UNKNOWN), high_s)
    is_default = (known["algorithm"] == DEFAULT).to_numpy(np.bool_)
    labels = known["label"].tolist()
    visited = _visited(points, visits) if visits else []
    result = []
    for configuration, rows in positions(known, (*PLACED, "ranks", "bytes")):
        ordered = rows[np.argsort(time_s[rows], kind="stable")]
        default = ordered[is_default[ordered]]
        if ordered.size - default.size < 2:
            continue
        best = _fastest(ordered, visited)
        equal = time_s[ordered] <= time_s[best] * (1 + TIE)
        near = equal | (low_s[ordered] <= high_s[best])
        for place, row in enumerate(ordered.tolist() if visited else []):
            if row != best and (ratio := ratio_in_pairs(visited[row], visited[best])) is not None:
                near[place] = equal[place] or not _is_slower(*ratio)
        if schedules[best] is not None:
            near |= np.array([schedules[row] == schedules[best] for row in ordered])
        result.append(
            AlgorithmChoice(
                configuration,
                int(configuration["ranks"]),
                int(configuration["bytes"]),
                labels[best],
                float(time_s[best]),
                tuple(labels[row] for row in ordered[near] if row != best),
                int(ordered.size),
                labels[default[0]] if default.size else None,
                float(time_s[default[0]]) if default.size else None,
            )
        )
    return result


def _fastest(ordered: np.ndarray, visited: list[ByLaunch]) -> int:
    """The row of the smallest median, unless visits beside its own tell that another is faster."""
    best = int(ordered[0])
    for row in ordered[1:].tolist() if visited else []:
        ratio = ratio_in_pairs(visited[best], visited[row])
        if ratio is not None and _is_slower(*ratio):
            best = row
    return best


def _is_slower(apart: float, reach: float) -> bool:
    """Whether ln of a ratio of times, ± `reach`, tells that the first is slower by more than a tie."""
    return apart > max(reach, math.log1p(TIE))


def _visited(points: pd.DataFrame, visits: Visits) -> list[ByLaunch]:
    """The visits of each row; algorithms that make the same schedule there have the same ones."""
    visited = visits_at(points, visits)
    for rows in same_schedule(points):
        together = taken_together([visited[row] for row in rows])
        for row in rows:
            visited[row] = together
    return visited


@dataclass(frozen=True)
class Penalty:
    """How far the library's default is from the best, over many points: 1 where nothing is told to be faster."""

    points: int
    median: float
    p90: float
    worst: float
    within_10_percent: float


def penalty(chosen: list[AlgorithmChoice]) -> Penalty | None:
    """The penalty of the default over all choices; None where no default was measured."""
    ratios = np.array([choice.penalty for choice in chosen if choice.penalty is not None])
    if ratios.size == 0:
        return None
    return Penalty(
        int(ratios.size),
        float(np.median(ratios)),
        float(np.quantile(ratios, 0.9)),
        float(ratios.max()),
        float(np.mean(ratios <= 1.1)),
    )
