"""Which algorithm is fastest where, and what the library's own choice costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.models.over_ranks.points import PLACED, Configuration, positions

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
    known = points.assign(ranks=points["ranks"].fillna(0).astype(int))
    time_s, low_s, high_s = (known[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    is_default = (known["algorithm"] == DEFAULT).to_numpy(np.bool_)
    labels = known["label"].tolist()
    result = []
    for configuration, rows in positions(known, (*PLACED, "ranks", "bytes")):
        ordered = rows[np.argsort(time_s[rows], kind="stable")]
        named, default = ordered[~is_default[ordered]], ordered[is_default[ordered]]
        if named.size < 2:
            continue
        best = named[0]
        near = (time_s[named] <= time_s[best] * (1 + TIE)) | (low_s[named] <= high_s[best])
        result.append(
            Choice(
                configuration,
                int(configuration["ranks"]),
                int(configuration["bytes"]),
                labels[best],
                float(time_s[best]),
                tuple(labels[row] for row in named[near][1:]),
                int(named.size),
                float(time_s[default[0]]) if default.size else None,
            )
        )
    return result


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
