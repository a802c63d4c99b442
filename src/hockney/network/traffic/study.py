"""One traffic on one network under one routing: congestion, bounds on bandwidth, the links that decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hockney.errors import RequestError
from hockney.network.topologies.base import Network
from hockney.network.traffic.base import Allocated, Demand, Load, Progress, silent
from hockney.network.traffic.demands import Traffic, traffics
from hockney.network.traffic.routings.base import Routing, routings


def alltoall_congestion(shape: tuple[int, ...]) -> Fraction:
    """Exact messages on the most loaded link of a torus when each node sends one to every other, ideally spread.

    Node by node the offsets of a dimension of extent k add up to ⌊k²/4⌋ hops, each P/k times, on two links out
    (one where k = 2). With three equal extents this is C of Hoefler et al. 2010,
    k²(k²−1)/8 for odd k, k⁴/8 for even.
    """
    nodes = math.prod(shape)
    return max(
        (Fraction(nodes * (k * k // 4), k * (2 if k > 2 else 1)) for k in shape if k > 1), default=Fraction(0)
    )


@dataclass(frozen=True, eq=False)
class TrafficStudy:
    """The load of a traffic on a network; congestion counts messages on one link of a node."""

    among: Allocated
    traffic: str
    routing: str
    size_B: float
    streams: int
    seed: int
    demand: Demand
    load: Load

    @property
    def worst(self) -> float:
        """Messages that share the most loaded link."""
        return self.load.worst_B / self.size_B

    @property
    def average(self) -> float:
        """Messages on a directed link, over all links of the network."""
        return self.load.average_B / self.size_B

    @property
    def mean_hops(self) -> float:
        """Links that a byte crosses."""
        return self.load.hop_bytes / self.demand.total_B

    @property
    def injection_links(self) -> int:
        """Links out of a node: of the sender that has the fewest."""
        links = self.load.links
        return int(np.bincount(links.tail, minlength=links.network.vertices)[self.demand.source].min())

    @property
    def fraction(self) -> float:
        """Bandwidth that each sender can have at most, as a multiple of one link of a node."""
        return self.demand.total_B / len(np.unique(self.demand.source)) / self.load.worst_B

    @property
    def time_s(self) -> float | None:
        """What the most loaded link takes; None where bandwidths are not known."""
        rate = self.load.links.node_link_B_per_s
        return None if rate is None else self.load.worst_B / rate

    @property
    def factor_of_all_links(self) -> float:
        """Hoefler et al. 2010, equation (2): by how much a byte takes longer when all links of every node send.

        The factor is defined for pairings, and never below 1: what a node sends must leave by its own links.
        """
        return self.worst / self.streams * self.injection_links

    def as_data(self, shown: int = 10) -> dict[str, Any]:
        """The study as JSON; rates in B/s, None where bandwidths are unknown."""
        network = self.load.links.network
        rate = self.load.links.node_link_B_per_s
        traffic, routing = traffics.get(self.traffic), routings.get(self.routing)
        data: dict[str, Any] = {
            "topology": network.spec,
            "nodes": network.nodes,
            "allocated_nodes": len(self.among.nodes),
            "directed_links": len(self.load.carried_B),
            "used_links": int((self.load.carried_B > 0).sum()),
            "traffic": {"name": self.traffic, "meaning": traffic.meaning},
            "routing": {"name": self.routing, "meaning": routing.meaning},
            "message_bytes": self.size_B,
            "streams": self.streams,
            "messages": len(self.demand.source) * self.streams,
            "mean_hops": rounded(self.mean_hops),
            "injection_links": self.injection_links,
            "congestion": {
                "worst": rounded(self.worst),
                "average": rounded(self.average),
                "unit": "messages on one link of a node",
            },
            "most_loaded": [
                {
                    "link": name,
                    "bytes": rounded(carried),
                    "messages": rounded(carried / self.size_B),
                    "congestion": rounded(congestion_B / self.size_B),
                }
                for name, carried, congestion_B in self.load.most_loaded(shown)
            ],
            "bandwidth_per_node": {
                "fraction_of_a_link": rounded(self.fraction),
                "bandwidth_B_per_s": None if rate is None else rate * self.fraction,
            },
            "time_s": self.time_s,
        }
        if traffic.is_random:
            data["seed"] = self.seed
        if traffic.is_pairing:
            data["beta_factor"] = {
                "low": 1.0,
                "high": rounded(self.factor_of_all_links),
                "streams": self.injection_links,
            }
        if self.traffic == "alltoall" and network.shape and self.among.is_whole:
            data["exact_alltoall_congestion"] = float(alltoall_congestion(network.shape))
        return data


def spread_of_samples(first: TrafficStudy, samples: int, progress: Progress = silent) -> dict[str, Any]:
    """The same random traffic drawn with `samples` seeds, the first and those after, and how the answers spread.

    RequestError where the traffic is not random: all samples would be the same.
    """
    if not traffics.get(first.traffic).is_random:
        raise RequestError(
            f"{first.traffic} is not random: every sample is the same",
            "leave --samples out, or take permutation",
        )
    more = []
    for number in range(1, samples):
        progress(number / samples, f"sample {number + 1} of {samples}")
        more.append(
            study(
                first.among,
                traffic=first.traffic,
                routing=first.routing,
                size_B=first.size_B,
                streams=first.streams,
                seed=first.seed + number,
            )
        )
    spread: dict[str, Any] = {"count": samples}
    for name, values in (
        ("worst", [drawn.worst for drawn in (first, *more)]),
        ("fraction_of_a_link", [drawn.fraction for drawn in (first, *more)]),
    ):
        numbers = (min(values), float(np.median(values)), float(np.mean(values)), max(values))
        spread[name] = dict(zip(("least", "median", "mean", "largest"), map(rounded, numbers), strict=True))
    return spread


def rounded(value: float) -> float:
    """The value to twelve digits: sums of shares such as 1/3 end in noise after that."""
    return float(f"{value:.12g}")


def study(
    among: Allocated, *, traffic: str, routing: str, size_B: float, streams: int = 1, seed: int = 0
) -> TrafficStudy:
    """Route a traffic. RequestError for unknown names, or where the network has no such traffic or routing."""
    kind: Traffic = traffics.get(traffic)
    way: Routing = routings.get(routing)
    demand = Demand.of(*kind.pairs(among, seed), size_B * streams)
    if not len(demand.source):
        raise RequestError(
            f"{traffic} between {len(among.nodes)} nodes sends nothing", "allocate more nodes, or another seed"
        )
    load = way.load(among.links, demand)
    return TrafficStudy(among, traffic, routing, size_B, streams, seed, demand, load)


def default_routing(network: Network) -> str:
    """`up_down` where the network is a tree of levels, `shortest` elsewhere."""
    rise = np.diff(network.level[network.ends], axis=1)
    return "up_down" if (network.level >= 0).all() and rise.all() else "shortest"
