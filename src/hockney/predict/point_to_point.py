"""Point-to-point times by locality, from the ping-pongs of a tidy table: where a calibration begins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hockney.machine.system import System
from hockney.predict.place import LOCALITIES, NETWORK

_LATENCY_S = (2e-7, 3e-7, 4e-7, 7e-7, 2e-6)
_BANDWIDTH_B_PER_S = (1e10, 8e9, 7e9, 5e9, 5e9)
"""Usual values of today's clusters, by locality, for localities that were not measured."""


class MessageTimes:
    """Seconds one way by locality (index into LOCALITIES) and size.

    `pairs`: ping-pong rows of a tidy table, with a column `locality` (`machine.locality`). What was not measured
    is what is usual, and for the network what the system file says.
    """

    def __init__(self, pairs: pd.DataFrame, system: System) -> None:
        self._curves = _measured(pairs)
        self._network = system.network

    @property
    def measured(self) -> set[int]:
        """The localities that ping-pongs were measured at."""
        return set(self._curves)

    def __call__(self, locality: int, size_B: float) -> float:
        """Seconds of a message of that size; below 1 B as for 1 B."""
        if locality in self._curves:
            octaves, logs = self._curves[locality]
            x = np.log2(max(size_B, 1.0))
            if x > octaves[-1]:
                return float(np.exp(logs[-1]) * 2 ** (x - octaves[-1]))
            return float(np.exp(np.interp(x, octaves, logs)))
        latency_s, bandwidth = _LATENCY_S[locality], _BANDWIDTH_B_PER_S[locality]
        if locality == NETWORK:
            latency_s = self._network.latency_s or latency_s
            bandwidth = self._network.bandwidth_B_per_s or bandwidth
        return latency_s + size_B / bandwidth


def _measured(pairs: pd.DataFrame) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    rows = pairs[(pairs["operation"] == "pingpong") & (pairs["statistic"] == "one_way") & (pairs["time_s"] > 0)]
    if rows.empty or "locality" not in rows:
        return {}
    curves = {}
    for locality, of_it in rows.groupby("locality"):
        if locality not in LOCALITIES:
            continue
        median = of_it.assign(size=of_it["bytes"].clip(lower=1)).groupby("size")["time_s"].median()
        curves[LOCALITIES.index(locality)] = (
            np.log2(median.index.to_numpy(np.float64)),
            np.log(median.to_numpy(np.float64)),
        )
    return curves
