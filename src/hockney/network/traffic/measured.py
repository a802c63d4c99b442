"""Measured latencies between nodes, put onto a topology: how they grow with hops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.topologies.base import Network
from hockney.network.traffic.base import Links
from hockney.network.traffic.patterns import rank_number, read_lines
from hockney.network.traffic.walk import hops
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine
from hockney.statistics import t_reach

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two hosts and the median one-way time between them in seconds."""

    hosts: tuple[str, str]
    latency_s: float


def measured_pairs(campaign: Campaign, size_B: int | None, variant: str) -> tuple[int, list[Pair]]:
    """Ping-pongs between nodes of one size (None: the smallest measured), one for each pair of hosts.

    RequestError where there are none, or where a launch does not tell the hosts of its ranks.
    """
    records = [
        record
        for record in campaign.records()
        if (record.operation, record.statistic, record.locality) == ("pingpong", "one_way", "network")
        and (record.variant or "default") == variant
    ]
    sizes = sorted({record.bytes for record in records})
    if not sizes or (size_B is not None and size_B not in sizes):
        what = "between nodes" if size_B is None else f"of {size_B} B between nodes"
        raise RequestError(
            f"{campaign.path} has no ping-pong {what} with the variant {variant!r}",
            f"there are: {', '.join(map(str, sizes))} B"
            if sizes
            else "measure some: `hockney measure --operation pingpong --locality network --pairs 20 …`",
        )
    size = sizes[0] if size_B is None else size_B
    launches = {launch.id: launch for launch in campaign.launches()}
    times: dict[tuple[str, str], list[float]] = {}
    for record in records:
        if record.bytes == size:
            names = _hosts(launches.get(record.launch, LaunchLine()), record.pair)
            times.setdefault((min(names), max(names)), []).append(record.value)
    return size, [Pair(pair, float(np.median(values))) for pair, values in sorted(times.items())]


def _hosts(launch: LaunchLine, pair: str) -> tuple[str, str]:
    host = {str(place.rank): place.host for place in launch.ranks}
    ends = pair.split("-")
    if len(ends) != 2 or not all(host.get(end) for end in ends):
        raise RequestError(
            f"launch {launch.id!r} does not tell where the ranks {pair!r} were",
            "only campaigns of `hockney measure` do; imported tables name no hosts",
        )
    return host[ends[0]], host[ends[1]]


def hosts_of(campaign: Campaign) -> set[str]:
    """All hosts that the launches of a campaign used, whether or not a pair of them was measured."""
    return {place.host for launch in campaign.launches() for place in launch.ranks if place.host}


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

        All times are of one size and of one magnitude, so residuals are absolute. Where all pairs are equally far
        apart, nothing is fitted, and `reason` says why.
        """
        if len(np.unique(self.hops)) < 2:
            return HopFit(
                False,
                f"all {len(self.pairs)} pairs are {int(self.hops[0])} hops apart: "
                "measure pairs at another distance",
            )
        # Half a second, which whoever reads a machine file does without.
        from scipy.stats import linregress

        line = linregress(self.hops, self.latency_s)
        freedom = len(self.pairs) - 2

        def within(value: float, error: float) -> FittedTime:
            half = t_reach(error, freedom) if freedom else None
            return FittedTime(
                value, None if half is None else value - half, None if half is None else value + half
            )

        base, per_hop = (
            within(float(line.intercept), line.intercept_stderr),
            within(float(line.slope), line.stderr),
        )
        reason = None
        if per_hop.low is None or per_hop.high is None:
            reason = "two pairs make a line and no interval"
        elif per_hop.low <= 0 <= per_hop.high:
            reason = "the latency of a hop cannot be told from 0"
        farthest = Farthest(self.farthest, float(line.intercept + line.slope * self.farthest))
        return HopFit(True, reason, base, per_hop, farthest)


def by_hops(network: Network, pairs: Sequence[Pair], node_of: Mapping[str, int]) -> ByHops:
    """Pairs with the links between their nodes."""
    nodes = np.unique(list(node_of.values()))
    apart = hops(Links.of(network), nodes)
    at = {host: int(np.searchsorted(nodes, node)) for host, node in node_of.items()}
    between = np.array([apart[at[a], at[b]] for a, b in (pair.hosts for pair in pairs)], np.int64)
    return ByHops(pairs, between, int(apart.max()))
