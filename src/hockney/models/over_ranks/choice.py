"""Which algorithm is fastest where, and what the library's own choice costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.models.over_ranks.points import PLACED, Configuration, groups

DEFAULT = "default"
TIE = 0.02
"""Algorithms this near to the fastest, or whose interval reaches its own, share the place."""


@dataclass(frozen=True)
class Choice:
    """One configuration, rank count and size. `ties`: others that cannot be told from the best. `default_s`: None
    where the library's own choice was not measured; `penalty` is its time over the best.
    """

    configuration: Configuration
    ranks: int
    bytes: int
    best: str
    best_s: float
    ties: tuple[str, ...]
    candidates: int
    default_s: float | None

    @property
    def penalty(self) -> float | None:
        """Time of the default over that of the best."""
        return None if self.default_s is None else self.default_s / self.best_s


def choices(points: pd.DataFrame) -> list[Choice]:
    """One for each (configuration with nodes, ranks, size) with two candidates or more, in that order.

    `points` as `points.points` makes them; ranks that are unknown are 0.
    """
    return list(_choices(points))


def _choices(points: pd.DataFrame) -> Iterator[Choice]:
    known = points.assign(ranks=points["ranks"].fillna(0).astype(int))
    for configuration, rows in groups(known, (*PLACED, "ranks", "bytes")):
        ordered = rows.sort_values("time_s")
        named = ordered[ordered["algorithm"] != DEFAULT]
        if len(named) < 2:
            continue
        best = named.iloc[0]
        near = (named["time_s"] <= best["time_s"] * (1 + TIE)) | (named["low_s"] <= best["high_s"])
        default = ordered[ordered["algorithm"] == DEFAULT]
        yield Choice(
            configuration,
            int(best["ranks"]),
            int(best["bytes"]),
            str(best["label"]),
            float(best["time_s"]),
            tuple(str(name) for name in named[near]["label"].iloc[1:]),
            len(named),
            float(default["time_s"].iloc[0]) if len(default) else None,
        )


@dataclass(frozen=True)
class Penalty:
    """How far the library's default is from the best, over many points: 1 is never worse."""

    points: int
    median: float
    p90: float
    worst: float
    within_10_percent: float


def penalty(found: list[Choice]) -> Penalty | None:
    """None where no default was measured."""
    ratios = np.array([choice.penalty for choice in found if choice.penalty is not None])
    if ratios.size == 0:
        return None
    return Penalty(
        int(ratios.size),
        float(np.median(ratios)),
        float(np.quantile(ratios, 0.9)),
        float(ratios.max()),
        float(np.mean(ratios <= 1.1)),
    )
