"""How `default` itself grew with the ranks, whatever algorithm ran: what its times say beyond the trained ranks.

The straight line of `linear_in_ranks`, but that none falls: it would end at nothing. The times of a few ranks
cannot tell a line from a logarithm, which drift apart with the distance, so the interval reaches from one to the
other beside the line's own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.predict.estimators.base import Array, GroupModels
from hockney.predict.estimators.linear_in_ranks import GROUP, lines
from hockney.predict.points import positions, sliced
from hockney.records.series import size_place
from hockney.statistics import NORMAL


@dataclass(frozen=True)
class OwnGrowth:
    """Of one operation's `default`: for each trained size and place a line in the ranks, one in their logarithm,
    and the most ranks that were trained; sizes ascending."""

    linear: GroupModels
    logarithmic: GroupModels
    most_ranks: dict[Hashable, float]
    sizes_B: list[int]

    def at(self, points: pd.DataFrame, least: float) -> tuple[Array, Array]:
        """ln seconds at `points` and their deviation in ln, which is `least` or more, shapes (n,).

        Between two trained sizes along ln bytes. NaN outside of the sizes that have a line at the same place, on
        no more ranks than it was trained on, and where it has no interval: with fewer than three numbers of
        ranks.
        """
        placed = _with_root(points)
        of_size = np.array([self._at_size(placed.assign(bytes=size_B), least) for size_B in self.sizes_B])
        values, deviations = of_size[:, 0], of_size[:, 1]
        asked = size_place(points["bytes"].to_numpy(np.int64))
        trained = size_place(np.array(self.sizes_B))[:, None]
        known = np.isfinite(values)
        rows, columns = np.arange(len(self.sizes_B))[:, None], np.arange(len(points))
        below = np.where(known & (trained <= asked), rows, -1).max(axis=0)
        above = np.where(known & (trained >= asked), rows, len(rows)).min(axis=0)
        is_told = (below >= 0) & (above < len(rows))
        below, above = np.where(is_told, below, 0), np.where(is_told, above, 0)
        first, last = trained[below, 0], trained[above, 0]
        share = np.divide(asked - first, last - first, out=np.zeros(len(points)), where=last > first)
        between = [
            np.where(is_told, (1 - share) * each[below, columns] + share * each[above, columns], np.nan)
            for each in (values, deviations)
        ]
        return between[0], between[1]

    def _at_size(self, points: pd.DataFrame, least: float) -> Array:
        """Values and deviations at points of a trained size, shape (2, n)."""
        along = self.linear.predict(points)
        ranks = points["ranks"].to_numpy(np.float64)
        slowest_s = self.logarithmic.predict(points.assign(ranks=np.log2(ranks))).time_s
        most = np.full(len(points), np.inf)
        for key, index in positions(sliced(points), GROUP).items():
            most[index] = self.most_ranks.get(key, np.inf)
        is_beyond = (ranks > most) & (along.time_s > 0) & (slowest_s > 0)
        value, high, other = (
            np.log(each, out=np.full(len(points), np.nan), where=is_beyond & np.isfinite(each))
            for each in (along.time_s, along.high_s, slowest_s)
        )
        # A line that happens to go through its points is no better known than each of them.
        own = np.maximum((high - value) / NORMAL, least)
        deviation = np.hypot(own, (value - other) / NORMAL)
        return np.array([np.where(np.isfinite(deviation), value, np.nan), deviation])


def own_growth(default: pd.DataFrame) -> OwnGrowth:
    """Of training points of `default`, with the columns `predict.points.POINT` and `time_s`."""
    placed = _with_root(default)
    ranks = placed["ranks"].to_numpy(np.float64)
    return OwnGrowth(
        lines(placed, may_fall=False),
        lines(placed.assign(ranks=np.log2(ranks)), may_fall=False),
        {key: float(ranks[index].max()) for key, index in positions(sliced(placed), GROUP).items()},
        sorted({int(size_B) for size_B in placed["bytes"]}),
    )


def _with_root(points: pd.DataFrame) -> pd.DataFrame:
    """A table that names no root has the usual one."""
    return points.assign(root=points["root"].fillna(0))
