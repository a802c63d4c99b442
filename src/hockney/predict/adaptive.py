"""A campaign that measures what its decisions hang on: the order of collectives' points, and when to stop.

The points are those of the first pass. What is known is kept nowhere but in the measurements themselves, in their
order: a resumed campaign comes to the same next point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pandas as pd

from hockney.campaign.plan import Plan
from hockney.campaign.sizes import spread
from hockney.campaign.work import Point
from hockney.predict.estimators.base import Training, estimators
from hockney.predict.next_point import Belief, Candidates, next_points, settled
from hockney.predict.points import NUMBERS, POINT
from hockney.records.keys import CollectiveKey
from hockney.records.record import Record

ESTIMATOR = "gaussian_process"
BATCHES = 3
"""Decisions must have stayed through so many batches."""
BATCH, GROWTH = 4, 8
"""Points of a batch at least, and the share of those measured that it may be."""


@dataclass
class Adaptive:
    """The open points of one launch index and variant, in the order of what they are worth."""

    plan: Plan
    _queue: list[Point] = field(default_factory=list)

    def __call__(
        self,
        sizes_B: Mapping[CollectiveKey, Sequence[int]],
        measured: Mapping[Point, Record],
        failed: Set[Point],
    ) -> Point | None:
        """None when every decision is settled, or everything is measured.

        `sizes_B`: what may be measured of each series. Series that have no rival anywhere are measured whole.
        `measured`: in the order of first visits.
        """
        contested = _contested(sizes_B)
        for key, sizes in sizes_B.items():
            if key not in contested:
                for size in spread(sizes):
                    if (key, size) not in measured and (key, size) not in failed:
                        return key, size
        while self._queue:
            point = self._queue.pop(0)
            if point not in measured and point not in failed and point[0] in sizes_B:
                return point
        self._queue = self._batch(
            [(key, size) for key in sizes_B if key in contested for size in sizes_B[key]], measured, failed
        )
        return self._queue.pop(0) if self._queue else None

    def _batch(
        self, candidates: list[Point], measured: Mapping[Point, Record], failed: Set[Point]
    ) -> list[Point]:
        able = [point for point in candidates if point not in failed]
        if corners := [point for point in _corners(able) if point not in measured]:
            return corners
        known = Candidates.of(_frame(able, self.plan.map_by))
        where = {point: position for position, point in enumerate(able)}
        seen = [point for point in measured if point in where]
        count = max(BATCH, len(seen) // GROWTH)
        # Before the corners were there nothing was decided.
        least = len(_corners(able))
        lengths = [len(seen) - count * back for back in range(1, BATCHES + 1)]
        belief = self._belief(known, seen, where, measured)
        if lengths[-1] >= least:
            before = (self._belief(known, seen[:length], where, measured) for length in lengths)
            if settled(known, chain([belief], before), self.plan.decision_tolerance):
                return []
        is_open = np.array([point not in measured for point in able], dtype=np.bool_)
        elapsed_s = [record.elapsed_s for record in measured.values() if record.elapsed_s]
        typical_s = float(np.median(elapsed_s)) if elapsed_s else self.plan.budget_s
        ranks = known.points["ranks"].to_numpy(np.float64)
        cost = ranks * np.maximum(typical_s, self.plan.least_samples * np.exp(belief.mean))
        return [able[index] for index in next_points(known, belief, cost, is_open, count)]

    def _belief(
        self,
        known: Candidates,
        seen: Sequence[Point],
        where: Mapping[Point, int],
        measured: Mapping[Point, Record],
    ) -> Belief:
        index = [where[point] for point in seen]
        measured_s = np.full(len(known.points), np.nan)
        measured_s[index] = [measured[point].value for point in seen]
        learn = known.points.iloc[index].assign(time_s=measured_s[index], repetitions=1).reset_index(drop=True)
        training = Training(learn, learn[:0], None, "", "completion")
        return Belief.of(estimators.get(ESTIMATOR)(training).predict(known.points), measured_s)


def _instance(key: CollectiveKey) -> tuple[object, ...]:
    return key.operation, key.ranks, key.root, key.cache, key.start


def _contested(sizes_B: Mapping[CollectiveKey, Sequence[int]]) -> set[CollectiveKey]:
    """Series that share an instance with another one."""
    rivals: dict[tuple[object, ...], list[CollectiveKey]] = {}
    for key, sizes in sizes_B.items():
        for size in sizes:
            rivals.setdefault((*_instance(key), size), []).append(key)
    return {key for keys in rivals.values() if len(keys) > 1 for key in keys}


def _corners(points: Sequence[Point]) -> list[Point]:
    """Fewest and most ranks with the smallest and largest message of each algorithm, its segment and radix.

    The dearest of these four points, most ranks with the largest message, is left out.
    """
    surfaces: dict[tuple[object, ...], list[Point]] = {}
    for key, size in points:
        name = (key.operation, key.algorithm, key.segment_B, key.radix, key.root, key.cache)
        surfaces.setdefault(name, []).append((key, size))
    corners: list[Point] = []
    for members in surfaces.values():
        ranks = {key.ranks for key, _ in members}
        few, many = (
            sorted((point for point in members if point[0].ranks == count), key=lambda point: point[1])
            for count in (min(ranks), max(ranks))
        )
        corners += dict.fromkeys((few[0], few[-1], many[0]))
    return corners


def _frame(points: Sequence[Point], mapping: str) -> pd.DataFrame:
    """The points with the columns of `predict.points.POINT`."""
    frame = pd.DataFrame(
        {
            "operation": [key.operation for key, _ in points],
            "cache": [key.cache for key, _ in points],
            "algorithm": [key.algorithm for key, _ in points],
            "ranks": [key.ranks for key, _ in points],
            "bytes": [size for _, size in points],
            "segment_bytes": [key.segment_B or None for key, _ in points],
            "radix": [key.radix or None for key, _ in points],
            "root": [key.root for key, _ in points],
        }
    )
    frame = frame.assign(mapping=mapping, oversubscribed=False)
    # What all points of a launch share tells none from another.
    for name in POINT:
        if name not in frame.columns:
            frame[name] = pd.NA if name in NUMBERS else ""
    return frame[list(POINT)].astype(dict.fromkeys(NUMBERS, "Int64"))
