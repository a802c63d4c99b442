"""Ranks on the nodes of a network: the links that their messages share, and what they take at least.

The bound is that of any algorithm: what must cross the network's bisection, over its rate (for the alltoall on a
torus, C of Hoefler et al. 2010, section 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.network.bisection.bisection import bisection
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.predict.collective import UNSHARED, AlgorithmTime, predict_one
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import COMMAND_LINE
from hockney.predict.network_figures import has_machine, machine_of
from hockney.predict.options import MessageCosts
from hockney.predict.place import NETWORK, Place
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest
from hockney.units import format_rate, format_size

MOST_LINKED = 2e4
"""Messages that are simulated one by one on shared links: seconds."""


@dataclass(frozen=True, eq=False)
class RanksOnTopology:
    """`ppn` consecutive ranks on each node of `among`, whose links carry `link_B_per_s` as `source` says."""

    among: Allocated
    ppn: int
    link_B_per_s: float
    source: str
    _bisections: dict[int, float] = field(default_factory=dict)
    """Rates by the number of nodes."""

    def place(self, ranks: int) -> Place:
        """Where so many ranks are; they share nothing smaller than a node. RequestError where they do not fit."""
        needed = -(-ranks // self.ppn)
        if needed > len(self.among.nodes):
            raise RequestError(
                f"{ranks} ranks, {self.ppn} on a node, need {needed} nodes, not {len(self.among.nodes)}",
                "give a larger --topology, or --ppn",
            )
        node = self.among.nodes[np.arange(ranks) // self.ppn].astype(np.int32)
        return Place.of_nodes(node, min(self.ppn, ranks), self.among.links.network.shape)

    @property
    def costs_per_link(self) -> float:
        """Seconds of a byte on a link."""
        return 1 / self.link_B_per_s

    def with_links(self, costs: MachineCosts) -> MachineCosts:
        """The costs with those of each link on the way, of which a node has one to each neighbour."""
        return costs.with_links(self.costs_per_link)

    def bisection_B_per_s(self, ranks: int) -> float:
        """Of the best even split that was found of the nodes of so many ranks, one way; infinite on one node."""
        nodes = self.among.nodes[: -(-ranks // self.ppn)]
        if len(nodes) < 2:
            return math.inf
        if len(nodes) not in self._bisections:
            network = self.among.links.network
            rates = network.bandwidth_bit_per_s / 8
            weight = network.parallel * (
                np.full_like(rates, self.link_B_per_s) if np.isnan(rates).any() else rates
            )
            found = bisection(network, nodes, weight)
            self._bisections[len(nodes)] = found.high
        return self._bisections[len(nodes)]

    def crossing_B(self, collective: str, ranks: int, size_B: int) -> float:
        """Bytes that must cross any even split of the nodes in one direction, at least.

        What is the same for all, or has been summed, crosses once.
        """
        nodes = -(-ranks // self.ppn)
        # The last node may have fewer ranks than the others.
        few = ranks - (nodes - nodes // 2) * self.ppn
        blocks = few * (ranks - few) if collective == "alltoall" else few
        return size_B * (blocks if COLLECTIVES[collective].sizes_are_blocks else 1) if few > 0 else 0.0

    def predict(self, request: ScheduleRequest, costs: MachineCosts) -> AlgorithmTime:
        """One algorithm with its messages on the links, where they are few and the network is a torus.

        Otherwise without links: on a torus, or where the bisection needs longer, that is a bound and no time.
        """
        ranks = request.problem.ranks
        place = self.place(ranks)
        if not place.is_spread:
            return predict_one(request, costs, place)
        if self.is_simulated(request):
            return predict_one(request, self.with_links(costs), place)
        if self.is_torus:
            # A bound: none is nearer, and all links of a node are used.
            costs = costs.over(1)
            far, links = costs.messages.get(NETWORK), 2 * len(self.among.links.network.shape)
            if far is not None:
                bounded, _ = far.over_links(self.costs_per_link, links)
                costs = replace(costs, messages={**costs.messages, NETWORK: bounded})
        # Ranks that are all on nodes of their own are equally far apart: one may stand for all.
        is_alone = len(set(place.node)) == ranks
        row = (
            predict_one(request, costs.on_nodes(ranks), None) if is_alone else predict_one(request, costs, place)
        )
        moved_B = self.crossing_B(request.algorithm.collective, ranks, request.problem.bytes)
        rate_B_per_s = self.bisection_B_per_s(ranks)
        least_s = moved_B / rate_B_per_s
        if row.time_s is not None and row.time_s >= least_s:
            if not self.is_torus:
                return row
            least_s, how = row.time_s, "without shared links"
        elif not least_s:
            return row
        else:
            how = f"{format_size(moved_B)} over a bisection of {format_rate(rate_B_per_s)}"
        note = "; ".join(filter(None, [f"at least: {how}", row.note]))
        return AlgorithmTime(row.algorithm, UNSHARED, None, low_s=least_s, asymptotic=row.asymptotic, note=note)

    @property
    def is_torus(self) -> bool:
        """Whether messages are simulated on its links; other networks only bound them."""
        return bool(self.among.links.network.shape)

    def is_simulated(self, request: ScheduleRequest) -> bool:
        """Whether each message of the algorithm goes over its links."""
        return self.is_torus and request.expected_messages() <= MOST_LINKED

    @property
    def where(self) -> str:
        """What is taken of the network, as the text of a warning."""
        return (
            f"{len(self.among.nodes)} nodes of {self.among.links.network.spec}, up to {self.ppn} ranks on each, "
            f"links of {format_rate(self.link_B_per_s)} ({self.source})"
        )

    @property
    def words(self) -> str:
        """The same, with what is simulated of it."""
        return (
            f"{self.where}. A node uses all of its links at once. Up to {MOST_LINKED:,.0f} messages on a torus "
            "share each link; for more, and on other networks, the bisection gives a lower bound"
        )


def on_topology(case: MessageCosts, ranks: int) -> RanksOnTopology | None:
    """What the options say of the network; None where they say nothing.

    RequestError where they contradict a system, or where nothing says what a link carries.
    """
    if not case.topology:
        return None
    if case.system:
        raise RequestError("--system and --topology both say where ranks are", "leave one of them out")
    if case.mapping:
        raise RequestError("--mapping means nothing with --topology", "say --ppn")
    network = parse_spec(case.topology)
    among = Allocated(Links.of(network), np.arange(network.nodes))
    ppn = case.ppn or -(-ranks // len(among.nodes))
    machine = machine_of(case) if has_machine(case) else None
    rate = among.links.node_link_B_per_s
    link = _link_of(machine) if rate is None else (rate, COMMAND_LINE)
    return RanksOnTopology(among, ppn, *link)


def _link_of(machine: Machine | None) -> tuple[float, str]:
    for effect in machine.effects if machine is not None else ():
        if (rate := effect.parameters.get("link_bandwidth_B_per_s")) is not None:
            return rate.value, effect.source or "measured"
    raise RequestError(
        "what a link of the network carries is neither in the machine file nor in --topology",
        "say it: --topology torus:8x8x8,link=10Gbit/s",
    )
