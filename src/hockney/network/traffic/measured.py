"""Measured latencies between nodes, put onto a topology: how they grow with hops."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.topologies.base import Network
from hockney.network.traffic.base import Links
from hockney.network.traffic.patterns import rank_number, read_lines
from hockney.network.traffic.walk import hops
from hockney.records.record import Record
from hockney.statistics import t_reach

if TYPE_CHECKING:
    from hockney.records.folder import Campaign
    from hockney.records.journal import LaunchLine

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two hosts and the median one-way time between them in seconds."""

    hosts: tuple[str, str]
    latency_s: float


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


def usual_variant(campaign: Campaign) -> str:
    """The default variant, or where none was measured the first by its name."""
    names = {record.variant or "default" for record in campaign.records()}
    return "default" if "default" in names else min(names, default="default")


def measured_pairs(campaign: Campaign, size_B: int | None, variant: str) -> tuple[int, list[Pair]]:
    """Ping-pongs between nodes of one size (None: the smallest measured), one for each pair of hosts.

    RequestError where there are none, or as `between_nodes`.
    """
    records = (record for record in campaign.records() if (record.variant or "default") == variant)
    times = between_nodes(records, campaign.launches())
    sizes = [int(size) for size in times.columns.to_numpy()]
    if not sizes or (size_B is not None and size_B not in sizes):
        what = "between nodes" if size_B is None else f"of {size_B} B between nodes"
        raise RequestError(
            f"{campaign.path} has no ping-pong {what} with the variant {variant!r}",
            f"there are: {', '.join(map(str, sizes))} B"
            if sizes
            else "measure some: `hockney measure --operation pingpong --locality network --pairs 20 …`",
        )
    size = sizes[0] if size_B is None else size_B
    known_s = times[size].dropna()
    return size, [Pair((a, b), time_s) for (a, b), time_s in zip(known_s.index, known_s.to_numpy(), strict=True)]


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


def read_nodes(path: Path, pairs: Sequence[Pair], network: Network) -> dict[str, int]:
    """Lines `host node`. RequestError where a measured host is missing, or a node is not in the network."""
    node_of: dict[str, int] = {}
    for line, (host, node_text) in read_lines(path, ("host", "node")):
        node = rank_number(node_text, path, line)
        if node >= network.nodes:
            raise RequestError(
                f"{path}, line {line}: node {node} of {network.nodes}", f"nodes are 0 to {network.nodes - 1}"
            )
        node_of[host] = node
    if missing := sorted({host for pair in pairs for host in pair.hosts} - set(node_of)):
        raise RequestError(f"{path}: the measured host {missing[0]!r} has no node", "one line for each host")
    return node_of


@dataclass(frozen=True)
class HopClass:
    """Latencies of the pairs that are so many links apart."""

    hops: int
    pairs: int
    least_s: float
    median_s: float
    largest_s: float


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


@dataclass(frozen=True)
class Farthest:
    """The hosts that are farthest apart: L of LogP is the largest latency of all pairs."""

    hops: int
    latency_s: float


@dataclass(frozen=True)
class HopFit:
    """A line through latencies over hops, or why there is none."""

    identifiable: bool
    reason: str | None = None
    base_s: FittedTime | None = None
    per_hop_s: FittedTime | None = None
    largest: Farthest | None = None


@dataclass(frozen=True)
class LocalityAnswer:
    """Measured latencies by hops."""

    topology: str
    bytes: int
    variant: str
    hosts_from: str
    nodes: dict[str, int]
    classes: list[HopClass]
    fit: HopFit


@dataclass(frozen=True, eq=False)
class ByHops:
    """Latencies (pairs,) in seconds against hops (pairs,); `farthest`: the most hops between any two hosts."""

    pairs: Sequence[Pair]
    hops: NDArray[np.int64]
    farthest: int

    @property
    def latency_s(self) -> Floats:
        """(pairs,)."""
        return np.array([pair.latency_s for pair in self.pairs])

    def classes(self) -> list[HopClass]:
        """The number of pairs by hops, with their least, median and largest latency."""
        return [
            HopClass(
                int(distance),
                len(latency_s),
                float(latency_s.min()),
                float(np.median(latency_s)),
                float(latency_s.max()),
            )
            for distance in np.unique(self.hops)
            for latency_s in [self.latency_s[self.hops == distance]]
        ]

    def fit(self) -> HopFit:
        """latency = base + per_hop · hops by least squares, with 95 % intervals where the pairs support any.

        Where all pairs are equally far apart, nothing is fitted, and `reason` says why.
        """
        if len(np.unique(self.hops)) < 2:
            return HopFit(
                False,
                f"all {len(self.pairs)} pairs are {int(self.hops[0])} hops apart: "
                "measure pairs at another distance",
            )
        line = HopLines.fitted(self.hops, np.zeros(1), self.latency_s[:, None])
        reason = None
        if line.per_hop.low is None:
            reason = "two pairs make a line and no interval"
        elif line.per_hop.low <= 0:
            reason = "the latency of a hop may be 0"
        farthest = Farthest(self.farthest, line.base.value + line.per_hop.value * self.farthest)
        return HopFit(True, reason, line.base, line.per_hop, farthest)


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


def by_hops(network: Network, pairs: Sequence[Pair], node_of: Mapping[str, int]) -> ByHops:
    """Pairs with the links between their nodes."""
    nodes = np.unique(list(node_of.values()))
    apart = hops(Links.of(network), nodes)
    at = {host: int(np.searchsorted(nodes, node)) for host, node in node_of.items()}
    between = np.array([apart[at[a], at[b]] for a, b in (pair.hosts for pair in pairs)], np.int64)
    return ByHops(pairs, between, int(apart.max()))
