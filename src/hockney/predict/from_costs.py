"""What a default may take by point-to-point costs alone, where nothing else was measured beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.predict.collective import UNCALIBRATED, AlgorithmTime, way_of
from hockney.predict.estimators.base import Array, Prediction, unknown
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.place import Place
from hockney.predict.points import rows
from hockney.predict.scenario import OWN
from hockney.progress import Progress, silent
from hockney.schedule.catalogue import ask


@dataclass(frozen=True)
class FromCosts:
    """Candidates simulated with point-to-point costs; no collective was measured, so that they are rough.

    `in_blocks`: neighbouring ranks fill each node and share its link; else all are equally far apart.
    """

    costs: MachineCosts
    in_blocks: bool = False
    progress: Progress = silent

    def predict(self, asked: pd.DataFrame) -> Prediction:
        """Completion times of schedules, wide as uncalibrated times are."""
        made, time_s = unknown(len(asked)), self.plain_s(asked)
        made.time_s[:], made.low_s[:], made.high_s[:] = time_s, time_s / UNCALIBRATED, time_s * UNCALIBRATED
        return made

    def plain_s(self, asked: pd.DataFrame) -> Array:
        """Seconds, shape (n,); NaN where a schedule is refused."""
        time_s = np.full(len(asked), np.nan)
        for i, way in enumerate(self._ways(asked)):
            self.progress(i / len(asked), "simulating what the default may be")
            if way and (row := way[0]()).time_s is not None:
                time_s[i] = row.time_s
        return time_s

    def steps(self, asked: pd.DataFrame) -> Array:
        """Messages that are simulated one by one, shape (n,)."""
        return np.array([way[1] if way else 0.0 for way in self._ways(asked)])

    def _ways(self, asked: pd.DataFrame) -> Iterator[tuple[Callable[[], AlgorithmTime], float] | None]:
        for point in rows(asked):
            size = {"ranks": point.ranks, "root": point.root, "size_B": point.bytes}
            cut = {"segment_B": point.segment_B, "radix": point.radix}
            try:
                request = ask(point.operation, point.algorithm.removeprefix(OWN), **size, **cut)
            except RequestError:
                yield None
                continue
            costs, place = self.costs.on_nodes(point.nodes), None
            if self.in_blocks and point.ppn and point.nodes and point.nodes > 1:
                node = np.arange(point.ranks, dtype=np.int32) // point.ppn
                costs, place = self.costs.with_node_links(), Place.of_nodes(node, point.ppn)
            costs.check_network(place, point.ranks)
            yield way_of(request, costs, place)
