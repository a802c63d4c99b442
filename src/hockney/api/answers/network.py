"""The answers of `hockney network`."""

from __future__ import annotations

from typing import NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.machine.congestion import MeasuredShare
from hockney.network.bisection.ports import Ports
from hockney.network.topologies.base import topologies


class AllocatedNodes(TypedDict):
    """Nodes of the network that are used."""

    nodes: int
    list: str


class Hops(TypedDict):
    """Pairs of nodes by the links between them."""

    average: float
    pairs: dict[str, int]


@answer(*(f"network {name.replace('_', '-')}" for name in topologies.names()))
@with_config(ConfigDict(extra="allow"))
class NetworkAnswer(TypedDict):
    """A topology; further keys are those of its kind: shape, taper, groups …"""

    topology: str
    spec: str
    nodes: int
    switches: int
    links: int
    ports: list[Ports]
    allocation: AllocatedNodes
    diameter: int
    hops: Hops
    bisection_links: int | None
    bisection_links_low: int | None
    bisection_links_high: int | None
    bisection_links_exact: bool | None
    bisection_bandwidth_bit_per_s: float | None
    bisection_bandwidth_bit_per_s_low: float | None
    bisection_bandwidth_bit_per_s_high: float | None
    bisection_bandwidth_bit_per_s_exact: bool | None
    bisection_method: str
    bisection_halves: list[str]
    figure: str | None


class EffectiveShare(TypedDict):
    """The mean of random bisections, as a share of the links' rate."""

    nodes: int
    samples: int
    fraction: float
    low: float | None
    high: float | None
    least: float
    largest: float


class ComputedShare(EffectiveShare):
    """The same beside what bounds it."""

    bisection_share: float
    worst_permutation_share: float | None


@answer("network effective-bisection")
class EffectiveBisectionAnswer(TypedDict):
    """Effective bisection bandwidth against the number of nodes."""

    topology: str
    routing: str
    seed: int
    computed: list[ComputedShare]
    measured: list[MeasuredShare]
    figure: str | None


class HopClass(TypedDict):
    """Pairs that are so many links apart."""

    hops: int
    pairs: int
    least_s: float
    median_s: float
    largest_s: float


class Interval(TypedDict):
    """A value with the ends of its 95 % interval."""

    value: float
    low: float | None
    high: float | None


class Farthest(TypedDict):
    """The hosts that are farthest apart."""

    hops: int
    latency_s: float


class HopFit(TypedDict):
    """A line through latencies over hops, or why there is none."""

    identifiable: bool
    reason: NotRequired[str]
    base_s: NotRequired[Interval]
    per_hop_s: NotRequired[Interval]
    largest: NotRequired[Farthest]


@answer("network locality")
class LocalityAnswer(TypedDict):
    """Measured latencies by hops."""

    topology: str
    bytes: int
    variant: str
    hosts_from: str
    nodes: dict[str, int]
    classes: list[HopClass]
    fit: HopFit


class LoadedLink(TypedDict):
    """The link with the most traffic."""

    link: str
    load: float
    congestion: float


class MappedPlacement(TypedDict):
    """A placement, with what it does to the network."""

    placement: str
    hop_bytes: float
    average_hops: float
    most_hops: int
    within_nodes: float
    most_loaded_link: LoadedLink | None
    average_congestion: float


class BestPlacement(TypedDict):
    """The best beside the default."""

    placement: str
    default: str
    factor_of_most_loaded_link: float | None
    factor_of_hop_bytes: float | None


@answer("network map")
@with_config(ConfigDict(extra="allow"))
class MapAnswer(TypedDict):
    """Placements of a pattern, the best first; further keys are those of the pattern."""

    pattern: str
    topology: str
    ranks: int
    nodes: int
    ppn: int
    routing: str
    seed: int
    unit: str
    total: float
    placements: list[MappedPlacement]
    not_applicable: dict[str, str]
    best: BestPlacement


class Named(TypedDict):
    """A name and what it means."""

    name: str
    meaning: str


class TrafficCongestion(TypedDict):
    """Messages on one link."""

    worst: float
    average: float
    unit: str


class Carried(TypedDict):
    """A link and what it carries."""

    link: str
    bytes: float
    messages: float
    congestion: float


class NodeRate(TypedDict):
    """What a node gets of its link."""

    fraction_of_a_link: float
    bandwidth_B_per_s: float | None


class BetaFactor(TypedDict):
    """Times as long that a byte takes."""

    low: float
    high: float
    streams: int


@answer("network traffic")
class TrafficAnswer(TypedDict):
    """What a traffic does to the links."""

    topology: str
    nodes: int
    allocated_nodes: int
    directed_links: int
    used_links: int
    traffic: Named
    routing: Named
    message_bytes: int
    streams: int
    messages: int
    mean_hops: float
    injection_links: int
    congestion: TrafficCongestion
    most_loaded: list[Carried]
    bandwidth_per_node: NodeRate
    time_s: float | None
    seed: NotRequired[int]
    beta_factor: NotRequired[BetaFactor]
    exact_alltoall_congestion: NotRequired[float]
    samples: NotRequired[dict[str, dict[str, float]]]
    effective_bisection: NotRequired[EffectiveShare]
