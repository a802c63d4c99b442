"""Measured latencies between nodes, put onto a topology: how they grow with hops."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.topologies.base import Network
from hockney.network.traffic.base import Links
from hockney.network.traffic.walk import hops
from hockney.records.record import Record
from hockney.statistics import t_reach

if TYPE_CHECKING:
    import pandas as pd

    from hockney.records.journal import LaunchLine

Floats = NDArray[np.float64]


def between_nodes(records: Iterable[Record], launches: Iterable[LaunchLine]) -> pd.DataFrame:
    """Ping-pongs between nodes: median one-way times in seconds, a row for any two hosts, a column for a size.

    RequestError where a launch does not tell the hosts of its ranks.
    """
    # Whoever asks for a topology alone does without.
    import pandas as pd

    known = {launch.id: launch for launch in launches}
    rows = [
        (*sorted(_hosts(known.get(record.launch), record.pair)), record.bytes, record.value)
        for record in records
        if (record.operation, record.statistic, record.locality) == ("pingpong", "one_way", "network")
        and record.verified is not False
    ]
    frame = pd.DataFrame(rows, columns=["host", "other", "size_B", "time_s"])
    return frame.pivot_table("time_s", ["host", "other"], "size_B", "median")


def _hosts(launch: LaunchLine | None, pair: str) -> tuple[str, str]:
    host = {str(place.rank): place.host for place in launch.ranks} if launch else {}
    ends = pair.split("-")
    if len(ends) != 2 or not all(host.get(end) for end in ends):
        raise RequestError(
            f"launch {launch.id if launch else ''!r} does not say where the ranks {pair!r} were",
            "only campaigns of `hockney measure` do; imported tables name no hosts",
        )
    return host[ends[0]], host[ends[1]]


def hosts_of(launches: Iterable[LaunchLine]) -> set[str]:
    """All hosts that the launches of a campaign used, whether or not a pair of them was measured."""
    return {place.host for launch in launches for place in launch.ranks if place.host}


def nodes_by_name(hosts: set[str], network: Network) -> dict[str, int]:
    """Hosts in the order of their names, numbers in them as numbers, as nodes 0, 1, …"""
    if len(hosts) > network.nodes:
        raise RequestError(
            f"{len(hosts)} hosts were used, and the topology has {network.nodes} nodes", "give a larger one"
        )

    def key(host: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split("([0-9]+)", host)]

    return {host: node for node, host in enumerate(sorted(hosts, key=key))}


def links_between(launches: Sequence[LaunchLine], network: Network) -> Callable[[str, str], int]:
    """How many links are between two of the hosts of these launches, taken for the first nodes of `network`."""
    node_of = nodes_by_name(hosts_of(launches), network)
    apart = hops(Links.of(network), np.arange(len(node_of)))
    return lambda host, other: int(apart[node_of[host], node_of[other]])


@dataclass(frozen=True)
class FittedTime:
    """A time in seconds with the ends of its 95 % interval."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def within(cls, value: float, reach: float) -> FittedTime:
        """So far around a value, in seconds; no interval where that is NaN."""
        return cls(
            float(value), *(None if math.isnan(reach) else float(end) for end in (value - reach, value + reach))
        )


@dataclass(frozen=True, eq=False)
class HopLines:
    """Of each size the line mean + per_hop · (hops − their mean), fitted to pairs × sizes at once.

    Arrays have the shape (sizes,), in seconds. Reaches are half of 95 % intervals, NaN of two pairs: that of the
    mean is another pair's.
    """

    hops: NDArray[np.int64]
    mean_s: Floats
    mean_reach_s: Floats
    per_hop_s: Floats
    per_hop_reach_s: Floats

    @classmethod
    def fitted(cls, hops: NDArray[np.int64], size_B: Floats, time_s: Floats) -> HopLines:
        """Lines through times of shape (pairs, sizes), of pairs at two or more numbers of hops.

        All sizes together tell a link's latency and time for each byte, neither negative, by relative least
        squares. What the pairs of one size say beside that counts as far as it is beyond chance (James and Stein
        1961, positive part). A link costs no less than nothing, and no more than its share of the whole way.
        """
        # Half a second, which whoever reads a machine file does without.
        from scipy.optimize import nnls

        far, mean_s = hops - hops.mean(), time_s.mean(axis=0)
        root, freedom = float(np.linalg.norm(far)), len(hops) - 2

        def reach_s(per_hop_s: Floats) -> Floats:
            off = np.linalg.norm(time_s - mean_s - np.outer(far, per_hop_s), axis=0)
            return t_reach(off / math.sqrt(freedom), freedom) if freedom else np.full_like(off, np.nan)

        own_s = far @ time_s / root**2
        link = np.stack([np.outer(far, each / mean_s).ravel() for each in (np.ones_like(size_B), size_B)], -1)
        scale = np.linalg.norm(link, axis=0) + np.finfo(float).tiny
        latency_s, byte_s = nnls(link / scale, (time_s / mean_s - 1).ravel())[0] / scale
        common_s = latency_s + byte_s * size_B
        apart_s, chance_s = own_s - common_s, reach_s(own_s) / root
        share = 1 - np.divide(chance_s, apart_s, out=np.ones_like(apart_s), where=apart_s != 0) ** 2
        per_hop_s = np.clip(common_s + np.fmax(share, 0) * apart_s, 0, mean_s / hops.mean())
        reach = reach_s(per_hop_s)
        return cls(hops, mean_s, reach * math.sqrt(1 + 1 / len(hops)), per_hop_s, reach / root)

    @property
    def per_hop(self) -> FittedTime:
        """The latency of a link at the smallest size."""
        return FittedTime.within(self.per_hop_s[0], self.per_hop_reach_s[0])

    @property
    def base(self) -> FittedTime:
        """What remains without links at the smallest size."""
        mean = self.hops.mean()
        reach = math.hypot(self.mean_reach_s[0] / math.sqrt(len(self.hops) + 1), mean * self.per_hop_reach_s[0])
        return FittedTime.within(self.mean_s[0] - mean * self.per_hop_s[0], reach)
