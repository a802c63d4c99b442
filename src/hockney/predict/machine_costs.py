"""Costs of messages and local work on a machine, from its machine file or its description."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.placement import placement
from hockney.machine.select import matching
from hockney.machine.system import System
from hockney.predict.costs import TERMS, Costs, Curve, per_byte
from hockney.predict.message_costs import (
    ASSUMED_SHARES,
    COMMAND_LINE,
    OVERHEAD_SHARE,
    PROCESSOR,
    SIZES_B,
    Messages,
    Reduction,
    measured_messages,
    measured_reduction,
)
from hockney.predict.place import LOCALITIES, NETWORK, Place, place_of
from hockney.predict.point_to_point import MessageTimes
from hockney.records.keys import LATE, REDUCTION, WRITTEN
from hockney.units import format_bytes
from hockney.vocabulary import WHERE_RANKS_WERE

WITHOUT_NETWORK = (
    "give --network LATENCY,BANDWIDTH, or a --machine that has such messages (orfeo_thin is a "
    "published one), or measure them: `hockney measure --hosts A,B`"
)
"""The hint where messages between nodes are needed and were not measured."""

WORK = ("copy_s_per_B", "reduce_s_per_B")
_WORK_S_PER_B = 1e-10
"""Time of a byte that is reduced or copied, where it was not measured: 10 GB/s, a core of today."""

SHARES = (OVERHEAD_SHARE, 0.14, 0.03)
"""Of an empty message's time that a processor may take where it was not measured: of a network whose adapter does
all the work next to nothing."""

MOST_PLACED = 6_000_000
"""Most ranks with a place each: they take a gigabyte."""


@dataclass(frozen=True)
class MachineCosts:
    """Costs by locality (index into LOCALITIES); `origin` in words, `warnings` what is assumed."""

    messages: dict[int, Messages]
    origin: str
    warnings: list[str] = field(default_factory=list)
    node_s_per_B: float = 0.0
    """Time of a byte on a node's link into the network, which its ranks share; 0 where it is not known."""
    link_s_per_B: float = 0.0
    """Time of a byte on each link between the nodes; 0 where messages share none."""
    has_link_to_each: bool = False
    """Whether nodes have a link to each neighbour, as on a torus."""
    copy_s_per_B: float = _WORK_S_PER_B
    reduce_s_per_B: float = _WORK_S_PER_B
    reduction: Reduction | None = None
    """In its place, where it was measured."""
    largest_B: int | None = None
    """The largest message measured; None where none was."""
    one_node: int | None = None
    """Ranks that fit on one node as far as is known: so many, without a place, need no network. None: any."""
    network: str = ""
    """What is assumed of messages between nodes, in words; empty where they were measured or are unknown."""
    lacking: str = ""
    """What such an assumption lacks, in words."""

    def nearest(self, locality: int) -> int:
        """The locality itself if measured, else the nearest measured one farther out, else farther in.

        A node's own come before the network for ranks of one node.
        """
        near = [known for known in self.messages if locality == NETWORK or known != NETWORK] or self.messages
        return min(near, key=lambda known: (known < locality, abs(known - locality)))

    def check_network(self, place: Place | None, ranks: int) -> None:
        """RequestError where these ranks send messages between nodes, and nothing is known of those."""
        if NETWORK in self.messages:
            return
        if place is not None and place.is_spread:
            why = f"these {ranks} ranks are on several nodes"
        elif place is None and self.one_node is not None and ranks > self.one_node:
            why = f"{ranks} ranks are more than one node is known to hold ({self.one_node})"
        else:
            return
        where = "" if place is not None else "; or say with --system and --mapping that they are on one node"
        raise RequestError(
            f"{self.origin} has no messages between nodes, and {why}", f"{self.lacking}{WITHOUT_NETWORK}{where}"
        )

    def at_end(self, end: int) -> MachineCosts | None:
        """The costs where all messages take the low (0) or the high (1) end of their intervals; None without."""
        ends = {locality: messages.at_end(end) for locality, messages in self.messages.items()}
        known = {locality: messages for locality, messages in ends.items() if messages is not None}
        if len(known) < len(ends):
            return None
        far = self.streams
        ratio = 1.0 if far is None or far.ends is None else float(far.ends[end][-1])
        reduction = self.reduction and self.reduction.at_end(end)
        return replace(self, messages=known, reduction=reduction, node_s_per_B=self.node_s_per_B * ratio)

    def unsure(self, *, reduces: bool) -> list[MachineCosts]:
        """The costs themselves, and with other values of what was assumed: see `SHARES`; reductions cost nothing
        in some, where they are asked for."""
        assumed = any(messages.assumed_names for messages in self.messages.values())
        made = []
        for share in SHARES if assumed else SHARES[:1]:
            messages = {
                locality: replace(
                    Messages.assumed(one.one_way_s, one.origins, one.rendezvous_above_B, share),
                    link=one.link,
                    keeps_order=one.keeps_order,
                )
                if one.assumed_names == set(PROCESSOR)
                else one
                for locality, one in self.messages.items()
            }
            of_byte_s = [self.reduce_s_per_B, *([0.0] if reduces and not self.reduction else [])]
            for reduce_s_per_B in dict.fromkeys(of_byte_s):
                made.append(replace(self, messages=messages, reduce_s_per_B=reduce_s_per_B))
        return made

    def on_nodes(self, nodes: int | None) -> MachineCosts:
        """Costs of ranks without a place, known to be on so many nodes; None: that is not known. What ranks of a
        single node send crosses no network, unless nothing else is known.

        Costs that `alike` has reduced to one locality stay as they are.
        """
        if nodes is None or self.one_node is None:
            return self
        if nodes > 1:
            return replace(self, one_node=1)
        inside = {locality: messages for locality, messages in self.messages.items() if locality != NETWORK}
        return replace(self, messages=inside or self.messages, one_node=sys.maxsize)

    def with_node_links(self) -> MachineCosts:
        """Costs where the ranks of a node share its link, at the rate of the largest messages between nodes."""
        far = self.messages[NETWORK].parameters()
        return replace(self, node_s_per_B=far["gap_s_per_B"] or 0.0)

    @property
    def streams(self) -> Messages | None:
        """Messages between nodes, where they go by streams that keep their order and share their node's link."""
        far = self.messages.get(NETWORK)
        return far if far is not None and far.keeps_order else None

    def own_nodes(self, ranks: int) -> Place | None:
        """Each rank on a node of its own, where messages between nodes go by streams."""
        if self.streams is None or ranks > MOST_PLACED or not self.crosses_network(None, ranks):
            return None
        return Place.of_nodes(np.arange(ranks, dtype=np.int32), 1)

    def alike(self, ranks: int) -> MachineCosts:
        """Costs of so many ranks without a place: all pairs have the farthest known locality.

        Up to `one_node` ranks do without a network that is only assumed. RequestError as `check_network`.
        """
        self.check_network(None, ranks)
        farthest = self._farthest(ranks)
        return replace(self, messages={farthest: self.messages[farthest]}, one_node=None)

    def _farthest(self, ranks: int) -> int:
        inside = [locality for locality in self.messages if locality != NETWORK]
        fits = self.one_node is not None and ranks <= self.one_node
        return max(inside) if inside and fits and self.network else max(self.messages)

    def assumptions(self, place: Place | None, ranks: int) -> list[str]:
        """What replaces localities that these ranks need and that were not measured, in words."""
        if ranks < 2:
            return []
        used = [self._farthest(ranks)] if place is None else place.localities
        said = [ASSUMED_SHARES] if any(self.messages[self.nearest(level)].assumed_names for level in used) else []
        for locality in used:
            if locality not in self.messages:
                name, nearest = LOCALITIES[locality], LOCALITIES[self.nearest(locality)]
                said.append(f"{name}: messages were not measured, those of {nearest} are taken")
        if place is None and used != [NETWORK] and self.one_node is not None:
            apart = f"as far apart as {LOCALITIES[used[0]]}, the farthest measured there"
            said.append(f"all ranks are taken to be on one node, {apart}")
        return [*said, self.network] if self.assumes_network(place, ranks) else said

    def crosses_network(self, place: Place | None, ranks: int) -> bool:
        """Whether these ranks send messages between nodes."""
        return ranks > 1 and (self._farthest(ranks) == NETWORK if place is None else place.is_spread)

    def assumes_network(self, place: Place | None, ranks: int) -> bool:
        """Whether these ranks send messages between nodes whose costs were given, not measured."""
        return bool(self.network) and self.crosses_network(place, ranks)

    @property
    def copies_cost(self) -> bool:
        """Whether copies inside a rank take time."""
        return self.copy_s_per_B > 0

    def at(self, localities: Sequence[int]) -> Costs:
        """Costs at the nearest measured locality of each: see `check_network` and `assumptions`."""
        messages = [self._curves(locality) for locality in localities]
        reduce = self.reduction.curve if self.reduction else per_byte(self.reduce_s_per_B)
        costs = Costs(messages, per_byte(self.copy_s_per_B), reduce)
        return costs.on_links(localities, self.node_s_per_B, self.link_s_per_B)

    def _curves(self, locality: int) -> list[Curve]:
        own = self.messages[self.nearest(locality)]
        has_hops = own.link is not None and self.link_s_per_B > 0
        near, link_s = own.over(0) if has_hops else own, None
        if self.has_link_to_each and locality == NETWORK:
            near, link_s = near.over_links(self.link_s_per_B)
        curves, handshake = near.curves(), TERMS.index("handshake")
        if own.link is not None and has_hops:
            curves[TERMS.index("hop")] = SIZES_B.tolist(), own.link.per_link_s.tolist()
            # Who asks and answers is as far away as the pairs that were measured.
            curves[handshake] = own.curves()[handshake]
        if link_s is not None:
            curves[TERMS.index("network_link")] = SIZES_B.tolist(), link_s.tolist()
        return curves

    def with_links(self, link_s_per_B: float) -> MachineCosts:
        """The costs where each node has a link to every neighbour, and a byte takes so long on it."""
        return replace(self, link_s_per_B=link_s_per_B, has_link_to_each=True)

    def over(self, links: float) -> MachineCosts:
        """The costs where all messages between nodes cross so many links."""
        return replace(self, messages={locality: each.over(links) for locality, each in self.messages.items()})

    def unmeasured(self, localities: Sequence[int]) -> list[str]:
        """Operations that would say what is taken to cost nothing, or assumed."""
        used = {self.nearest(locality): self.messages[self.nearest(locality)] for locality in localities}
        is_measured = {
            "pingping": all(messages.both_ways is not None for messages in used.values()),
            # An adapter takes bytes from where they are.
            WRITTEN: all(
                place == NETWORK or messages.just_written is not None for place, messages in used.items()
            ),
            # Copies keep nobody's answer back.
            LATE: all(
                place != NETWORK or messages.rendezvous_above_B is None or messages.keeps_order is not None
                for place, messages in used.items()
            ),
            REDUCTION: self.reduction is not None,
        }
        return [name for name, is_there in is_measured.items() if not is_there]

    def written(self) -> MachineCosts:
        """The costs of bytes that their senders have just written, where those were measured."""
        messages = {locality: messages.written() for locality, messages in self.messages.items()}
        return replace(self, messages=messages)

    def beyond(self, size_B: int) -> list[str]:
        """How far messages of that size lie beyond the measured ones, in words; empty inside."""
        if not self.largest_B or size_B <= self.largest_B:
            return []
        return [
            f"asked for {format_bytes(size_B)}, messages were measured up to {format_bytes(self.largest_B)} "
            f"({size_B / self.largest_B:.3g} times): extrapolated"
        ]

    def replaced(self, given: Mapping[str, float | None]) -> MachineCosts:
        """These costs with the given LogGOPS parameters and times of local work."""
        of_message = {name: value for name, value in given.items() if name not in WORK}
        costs = replace(
            self,
            messages={locality: messages.replaced(of_message) for locality, messages in self.messages.items()},
            copy_s_per_B=float(given.get("copy_s_per_B", self.copy_s_per_B) or 0),
            reduce_s_per_B=float(given.get("reduce_s_per_B", self.reduce_s_per_B) or 0),
            reduction=None if "reduce_s_per_B" in given else self.reduction,
        )
        return costs.with_node_links() if self.streams and "gap_s_per_B" in given else costs

    def described(
        self, given: Mapping[str, float | None], localities: Sequence[int]
    ) -> dict[str, dict[str, dict[str, float | str | None]]]:
        """{locality: {parameter: {value, from}}} as LogGOPS; `given` were replaced. Limit None: all are eager."""
        described: dict[str, dict[str, dict[str, float | str | None]]] = {}
        for locality in localities:
            messages = self.messages[self.nearest(locality)]
            known: dict[str, dict[str, float | str | None]] = {
                name: {"value": value, "from": messages.origins.get(name, "not measured")}
                for name, value in messages.parameters().items()
            }
            for name in WORK:
                told_by = COMMAND_LINE if name in given else f"assumed: {1e-9 / _WORK_S_PER_B:.0f} GB/s"
                known[name] = {"value": getattr(self, name), "from": told_by}
            if self.reduction:
                largest_s = float(self.reduction.time_s[-1])
                known["reduce_s_per_B"] = {"value": largest_s / SIZES_B[-1], "from": self.reduction.origin}
            described[LOCALITIES[locality]] = known
        return described


def placed(
    costs: MachineCosts,
    system: System,
    mapping: str,
    ranks: int,
    nodes: int | None = None,
    ppn: int | None = None,
) -> tuple[MachineCosts, Place]:
    """Costs with the node's link into the network, and the places that the system's mapping gives the ranks.

    RequestError for ranks, nodes or a mapping that the system does not have.
    """
    if ranks > MOST_PLACED:
        raise RequestError(
            f"{ranks} ranks with a place each are more than the {MOST_PLACED} that are simulated",
            "leave out --system: where all pairs cost the same, one rank may do for all",
        )
    where = placement(system, mapping, ranks, nodes, ppn)
    if system.network.bandwidth_B_per_s:
        costs = replace(costs, node_s_per_B=1 / system.network.bandwidth_B_per_s)
    return costs, place_of(where)


def of_machine(
    machine: Machine, origin: str, *, both_ways: bool = False, where: Mapping[str, str] | None = None
) -> MachineCosts:
    """Costs from a machine file's ping-pongs. RequestError where it has none of a known locality.

    The time between two messages is that of many in a row (bandwidth), if measured; with `both_ways`, of
    many in both directions (bidirectional). `where` chooses among conditions; a warning names those that are
    taken where several remain.
    """
    if where:
        machine = machine.model_copy(update={"point_to_point": matching(machine, where)})
    messages: dict[int, Messages] = {}
    largest_B: list[int] = []
    assumed = f"assumed, not measured: {1e-9 / _WORK_S_PER_B:.0f} GB/s"
    reduction = measured_reduction(machine, origin)
    warnings = [f"copies are {assumed}" if reduction else f"reductions and copies are {assumed}"]
    for locality, name in enumerate(LOCALITIES):
        measured = measured_messages(machine, name, origin, both_ways=both_ways, can_choose=where is not None)
        if measured is None:
            continue
        messages[locality] = measured.messages
        warnings += measured.stand_ins
        largest_B += [measured.largest_B] if measured.largest_B is not None else []
    if not messages:
        is_any = any(entry.operation == "pingpong" for entry in machine.point_to_point)
        what, first = (" of a known locality", f"{WHERE_RANKS_WERE}; or ") if is_any else ("", "")
        how = f"{first}measure one: `hockney measure --operation pingpong -o FOLDER`, then `hockney fit FOLDER`"
        raise RequestError(f"{origin} has no ping-pong{what}", how)
    costs = MachineCosts(
        messages,
        origin,
        warnings,
        largest_B=min(largest_B, default=None),
        one_node=ranks_of_one_node(machine),
        reduction=reduction,
    )
    # Streams to several peers take their node's link at once.
    return costs.with_node_links() if costs.streams else costs


def ranks_of_one_node(machine: Machine) -> int:
    """How many ranks each of the machine's nodes holds at least: its CPUs, or the two of a measured pair."""
    return max(2, min((host.cpus for host in machine.system.hosts if host.cpus), default=2))


def of_system(system: System) -> MachineCosts:
    """Rough costs of messages inside a node, usual ones; those between nodes are left to `with_network`."""
    import pandas as pd

    nothing = pd.DataFrame(columns=["operation", "statistic", "time_s", "bytes", "mapping", "repetition"])
    times = MessageTimes(nothing, system)
    messages = {}
    for locality in range(NETWORK):
        one_way = np.array([times(locality, size_B) for size_B in SIZES_B])
        origins = dict.fromkeys(("latency_s", "gap_s_per_B"), "usual inside a node")
        messages[locality] = Messages.assumed(one_way, origins)
    warning = (
        f"nothing was measured: usual latencies and bandwidths inside a node of {system.name} are a rough bound"
    )
    return MachineCosts(messages, f"the description of {system.name}", [warning])
