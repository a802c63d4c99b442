"""One traffic on one network under one routing: congestion, bounds on bandwidth, the links that decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hockney.errors import RequestError
from hockney.network.topologies.base import Network
from hockney.network.traffic.base import Allocated, Demand, Load
from hockney.network.traffic.demands import Traffic, traffics
from hockney.network.traffic.routings.base import Routing, routings
from hockney.progress import Progress, silent


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


@dataclass(frozen=True)
class NamedMeaning:
    """A name and what it means."""

    name: str
    meaning: str


@dataclass(frozen=True)
class TrafficCongestion:
    """Messages on one link."""

    worst: float
    average: float
    unit: str = "messages on one link of a node"


@dataclass(frozen=True)
class Carried:
    """A link and what it carries."""

    link: str
    bytes: float
    messages: float
    congestion: float


@dataclass(frozen=True)
class NodeRate:
    """What a node gets of its link."""

    fraction_of_a_link: float
    bandwidth_B_per_s: float | None


@dataclass(frozen=True)
class BetaFactor:
    """How many times as long a byte takes."""

    low: float
    high: float
    streams: int


@dataclass(frozen=True)
class Spread:
    """How a number spreads over samples."""

    least: float
    median: float
    mean: float
    largest: float

    @classmethod
    def over(cls, values: list[float]) -> Spread:
        """The spread of some values."""
        numbers = (min(values), float(np.median(values)), float(np.mean(values)), max(values))
        return cls(*map(rounded, numbers))


@dataclass(frozen=True)
class SpreadOfSamples:
    """How congestion and bandwidth spread over `count` samples of a random traffic."""

    count: int
    worst: Spread
    fraction_of_a_link: Spread


@dataclass(frozen=True)
class EffectiveShare:
    """The mean of random bisections, as a share of the links' rate, with its 95 % interval."""

    nodes: int
    samples: int
    fraction: float
    low: float | None
    high: float | None
    least: float
    largest: float
    ways: str
    """`one way` where half of the nodes sends, `both ways` where all do."""


@dataclass(frozen=True)
class TrafficAnswer:
    """What a traffic does to the links; rates in B/s, None where bandwidths are unknown."""

    topology: str
    nodes: int
    allocated_nodes: int
    traffic: NamedMeaning
    routing: NamedMeaning
    message_bytes: float
    messages: int
    mean_hops: float
    injection_links: int
    congestion: TrafficCongestion
    most_loaded: list[Carried]
    bandwidth_per_node: NodeRate
    time_s: float | None
    seed: int | None
    """Of a random traffic."""
    beta_factor: BetaFactor | None
    """Of a pairing."""
    exact_alltoall_congestion: float | None
    """Of all nodes of a torus."""
    samples: SpreadOfSamples | None
    effective_bisection: EffectiveShare | None


@dataclass(frozen=True, eq=False)
class TrafficStudy:
    """The load of a traffic on a network; congestion counts messages on one link of a node."""

    among: Allocated
    traffic: str
    routing: str
    size_B: float
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
        return self.worst * self.injection_links

    def answer(
        self, shown: int, samples: SpreadOfSamples | None = None, effective: EffectiveShare | None = None
    ) -> TrafficAnswer:
        """The study with its `shown` most loaded links; what several samples say stands beside it."""
        network = self.load.links.network
        rate = self.load.links.node_link_B_per_s
        traffic, routing = traffics.get(self.traffic), routings.get(self.routing)
        is_torus_alltoall = self.traffic == "alltoall" and network.shape and self.among.is_whole
        return TrafficAnswer(
            topology=network.spec,
            nodes=network.nodes,
            allocated_nodes=len(self.among.nodes),
            traffic=NamedMeaning(self.traffic, traffic.meaning),
            routing=NamedMeaning(self.routing, routing.meaning),
            message_bytes=self.size_B,
            messages=len(self.demand.source),
            mean_hops=rounded(self.mean_hops),
            injection_links=self.injection_links,
            congestion=TrafficCongestion(rounded(self.worst), rounded(self.average)),
            most_loaded=[
                Carried(name, rounded(carried), rounded(carried / self.size_B), rounded(busy_B / self.size_B))
                for name, carried, busy_B in self.load.most_loaded(shown)
            ],
            bandwidth_per_node=NodeRate(rounded(self.fraction), None if rate is None else rate * self.fraction),
            time_s=self.time_s,
            seed=self.seed if traffic.is_random else None,
            beta_factor=BetaFactor(1.0, rounded(self.factor_of_all_links), self.injection_links)
            if traffic.is_pairing
            else None,
            exact_alltoall_congestion=float(alltoall_congestion(network.shape)) if is_torus_alltoall else None,
            samples=samples,
            effective_bisection=effective,
        )


def redrawn(first: TrafficStudy, samples: int, progress: Progress = silent) -> Iterator[TrafficStudy]:
    """The same random traffic drawn with `samples` seeds, the first and those after."""
    for number in range(samples):
        progress(number / samples, f"sample {number + 1} of {samples}")
        seed = first.seed + number
        yield (
            study(first.among, traffic=first.traffic, routing=first.routing, size_B=first.size_B, seed=seed)
            if number
            else first
        )


def spread_of_samples(drawn: Sequence[TrafficStudy]) -> SpreadOfSamples:
    """How the answers of a random traffic spread."""
    return SpreadOfSamples(
        len(drawn), Spread.over([each.worst for each in drawn]), Spread.over([each.fraction for each in drawn])
    )


def rounded(value: float) -> float:
    """The value to twelve digits: sums of shares such as 1/3 end in noise after that."""
    return float(f"{value:.12g}")


def study(among: Allocated, *, traffic: str, routing: str, size_B: float, seed: int = 0) -> TrafficStudy:
    """Route a traffic. RequestError for unknown names, or where the network has no such traffic or routing."""
    kind: Traffic = traffics.get(traffic)
    way: Routing = routings.get(routing)
    demand = Demand.of(*kind.pairs(among, seed), size_B)
    if not len(demand.source):
        raise RequestError(
            f"{traffic} between {len(among.nodes)} nodes sends nothing", "allocate more nodes, or another seed"
        )
    load = way.load(among.links, demand)
    return TrafficStudy(among, traffic, routing, size_B, seed, demand, load)


def default_routing(network: Network) -> str:
    """`up_down` where the network is a tree of levels, `shortest` elsewhere."""
    rise = np.diff(network.level[network.ends], axis=1)
    return "up_down" if (network.level >= 0).all() and rise.all() else "shortest"
