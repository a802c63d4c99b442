"""Networks as graphs: their measures, what traffic does to them, maps of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.machine.congestion import MeasuredShare, measured_shares
from hockney.machine.file import load
from hockney.network.bisection.bisection import bisection
from hockney.network.bisection.measure import NetworkAnswer as NetworkAnswer
from hockney.network.bisection.measure import measure
from hockney.network.node_choice import NodeChoice, allocated
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.demands import traffics
from hockney.network.traffic.effective import WAYS, effective_bisection
from hockney.network.traffic.mapping import MapAnswer as MapAnswer
from hockney.network.traffic.mapping import Situation, compare, read_map
from hockney.network.traffic.patterns import parse_pattern
from hockney.network.traffic.study import TrafficAnswer as TrafficAnswer
from hockney.network.traffic.study import default_routing, redrawn, spread_of_samples, study
from hockney.network.traffic.worst import MOST_SYMMETRIC, worst_of_permutations
from hockney.options.network import (
    SAMPLES,
    EffectiveOptions,
    GraphOptions,
    MapOptions,
    Routed,
    TrafficOptions,
)
from hockney.progress import Progress
from hockney.report.drawing import checked_ending, write_drawing
from hockney.report.effective import ComputedShare, effective, findings
from hockney.report.networks import draw
from hockney.units import counted

MOST_WORST = 128
"""Nodes up to which the worst permutation is looked for: seconds."""


SHOWN = 10
"""Most loaded links that are named."""


def network_measures(options: GraphOptions) -> NetworkAnswer:
    """Hops, ports and bisection of a topology; its figure where one is asked for."""
    if options.figure is not None:
        checked_ending(options.figure)
    graph = parse_spec(options.topology)
    measured = measure(graph, allocated(graph, options))
    if options.figure is not None:
        write_drawing(options.figure, lambda: draw(measured))
    return measured.answer(options.figure)


def _routing(routed: Routed, graph: Network) -> str:
    return routed.routing.replace("-", "_") or default_routing(graph)


def network_traffic(
    routed: Routed, options: TrafficOptions, nodes: NodeChoice, progress: Progress
) -> TrafficAnswer:
    """What a traffic does to the links of a network."""
    graph = parse_spec(routed.topology)
    result = study(
        Allocated(Links.of(graph), allocated(graph, nodes)),
        traffic=options.kind.replace("-", "_"),
        routing=_routing(routed, graph),
        size_B=options.size_B,
        seed=options.seed,
    )
    if not traffics.get(result.traffic).is_random:
        return result.answer(SHOWN)
    drawn = list(redrawn(result, SAMPLES, progress))
    share = effective_bisection(drawn, SAMPLES) if result.traffic in WAYS else None
    return result.answer(SHOWN, spread_of_samples(drawn), share)


def network_map(routed: Routed, options: MapOptions, nodes: NodeChoice) -> MapAnswer:
    """Maps of a pattern's ranks onto nodes, beside what no map can be below."""
    pattern = parse_pattern(options.pattern, options.size_B)
    graph = parse_spec(routed.topology)
    among = Allocated(Links.of(graph), allocated(graph, nodes))
    situation = Situation(pattern, among, options.ppn, _routing(routed, graph))
    return compare(
        situation, {str(options.mapping): read_map(options.mapping, situation)} if options.mapping else {}
    )


@dataclass(frozen=True)
class EffectiveBisectionAnswer:
    """Effective bisection bandwidth against the number of nodes."""

    topology: str
    routing: str
    computed: list[ComputedShare]
    measured: list[MeasuredShare]
    figure: str | None

    @property
    def title(self) -> str:
        """The network and its routing."""
        return f"{self.topology}, {self.routing.replace('_', '-')}"

    def findings(self) -> list[str]:
        """What is left of full bisection on the most nodes, in words."""
        return [finding.text for finding in findings(self.computed, self.measured)]


def network_effective(on: Routed, options: EffectiveOptions, progress: Progress) -> EffectiveBisectionAnswer:
    """Shares of full bisection on each number of nodes, computed and measured, and their figure."""
    if options.figure is not None:
        checked_ending(options.figure)
    graph = parse_spec(on.topology)
    links, routing = Links.of(graph), _routing(on, graph)
    powers = [1 << exponent for exponent in range(1, graph.nodes.bit_length())]
    counts = sorted({*(options.counts or [*powers, graph.nodes])})
    if counts[0] < 2 or counts[-1] > graph.nodes:
        raise RequestError(
            f"--nodes: 2 to {graph.nodes} of them can be chosen", "name fewer, or a larger topology"
        )
    measured = measured_shares(load(options.machine)) if options.machine is not None else []
    computed = []
    for number, count in enumerate(counts):
        among = Allocated(links, np.arange(count))
        first = study(among, traffic="random_halves", routing=routing, size_B=1.0)
        share = effective_bisection(redrawn(first, SAMPLES), SAMPLES)
        most = MOST_SYMMETRIC if among.is_whole and graph.shape else MOST_WORST
        worst = 1 / worst_of_permutations(among).congestion if count <= most else None
        computed.append(
            ComputedShare(**vars(share), bisection_share=_bisection_share(among), worst_permutation_share=worst)
        )
        progress((number + 1) / len(counts), counted(count, "node"))
    figure = options.figure
    answer = EffectiveBisectionAnswer(graph.spec, routing, computed, measured, str(figure) if figure else None)
    if figure is not None:
        write_drawing(figure, lambda: effective(answer.title, computed, measured))
    return answer


def _bisection_share(among: Allocated) -> float:
    """What the links of the least bisection leave to each pair across it, at most one link of a node."""
    network, nodes = among.links.network, among.nodes
    rate = network.bandwidth_bit_per_s
    fastest = among.links.node_link_B_per_s
    weight = network.parallel * (np.ones_like(rate) if fastest is None else rate / 8 / fastest)
    return min(1.0, bisection(network, nodes, weight).high / (len(nodes) // 2))
