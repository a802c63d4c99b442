"""What messages cost on a machine, from its machine file or its description: where a prediction begins."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.machine.placement import placement
from hockney.machine.system import Mapping as Places
from hockney.machine.system import Node, System, SystemNetwork
from hockney.models.base import Fit
from hockney.models.base import predict as predict_fit
from hockney.predict.costs import NOTHING, TERMS, Costs, Curve, per_byte, protocols
from hockney.predict.point_to_point import message_times
from hockney.predict.scenario import LOCALITIES, Place, place_of

Array = NDArray[np.float64]

SIZES_B = np.array([0.0, *2.0 ** np.arange(31)])
"""Curves have a point at each."""

NETWORK = len(LOCALITIES) - 1
WITHOUT_NETWORK = (
    "give --network-latency and --network-bandwidth, or a --machine that has such messages (orfeo_thin is a "
    "published one), or measure them: `hockney measure --hosts A,B`"
)
"""What to do where messages between nodes are needed and nobody measured them."""

OVERHEAD_SHARE = 0.35
"""Of the time of an empty message, at either processor, where o_s and o_r were not measured (LogP fits)."""
_OF_LOGGP = ("overhead_s", "receive_overhead_s", "gap_s")
WORK = ("copy_s_per_B", "reduce_s_per_B")
COMMAND_LINE = "the command line"
ASSUMED = "assumed: 35 % of an empty message"
_WORK_S_PER_B = 1e-10
"""A reduction or a copy, where it was not measured: 10 GB/s, one core of today."""

MOST_PLACED = 6_000_000
"""Ranks that are given a place: a gigabyte."""


@dataclass(frozen=True)
class Messages:
    """Messages of one locality: time one way by size, the processors' times, time between two, limit of eager.

    `origins` says of LogGOPS parameters where they come from.
    """

    one_way_s: Array
    send_s: float
    receive_s: float
    between_s: Array
    rendezvous_above_B: float | None = None
    overhead_s_per_B: float = 0.0
    origins: Mapping[str, str] = field(default_factory=dict)

    def curves(self) -> list[Curve]:
        """By term, as the simulator takes them."""
        sizes = SIZES_B.tolist()
        transfer = self.transfer_s

        def overhead(time_s: float) -> Curve:
            return [0.0, 1.0], [time_s, time_s + self.overhead_s_per_B]

        of_term: dict[str, Curve] = {
            "send": overhead(self.send_s),
            "receive": overhead(self.receive_s),
            "gap": (sizes, self.between_s.tolist()),
            "drain": (sizes, self.between_s.tolist()),
            "transfer": (sizes, transfer.tolist()),
            "handshake": protocols(
                rendezvous_above_B=math.inf if self.rendezvous_above_B is None else self.rendezvous_above_B,
                handshake_s=float(transfer[0]),
            ),
        }
        return [of_term.get(term, NOTHING) for term in TERMS]

    @property
    def transfer_s(self) -> Array:
        """What a message takes besides the processors, at `SIZES_B`."""
        return np.maximum(self.one_way_s - self.send_s - self.receive_s, 0.0)

    def parameters(self) -> dict[str, float | None]:
        """As LogGOPS: those of an empty message, and G of the largest."""
        transfer = self.transfer_s
        return {
            "latency_s": float(transfer[0]),
            "overhead_s": self.send_s,
            "receive_overhead_s": self.receive_s,
            "overhead_s_per_B": self.overhead_s_per_B,
            "gap_s": float(self.between_s[0]),
            "gap_s_per_B": float(transfer[-1] - transfer[-2]) / float(SIZES_B[-1] - SIZES_B[-2]),
            "rendezvous_above_B": self.rendezvous_above_B,
        }

    def replaced(self, given: Mapping[str, float | None]) -> Messages:
        """With the LogGOPS parameters that are given. L and g move their curves, G makes them straight lines."""
        known = {**self.parameters(), **given}
        send_s, receive_s = float(known["overhead_s"] or 0), float(known["receive_overhead_s"] or 0)
        transfer, between = self.transfer_s, self.between_s
        if "gap_s_per_B" in given:
            further_s = np.maximum(SIZES_B - 1, 0) * float(known["gap_s_per_B"] or 0)
            transfer, between = transfer[0] + further_s, between[0] + further_s
        transfer = transfer + float(known["latency_s"] or 0) - transfer[0]
        between = between + float(known["gap_s"] or 0) - between[0]
        return Messages(
            transfer + send_s + receive_s,
            send_s,
            receive_s,
            between,
            known["rendezvous_above_B"],
            float(known["overhead_s_per_B"] or 0),
            {**self.origins, **dict.fromkeys(given, COMMAND_LINE)},
        )


@dataclass(frozen=True)
class MachineCosts:
    """Costs by locality (index into LOCALITIES); `origin` in words, `warnings` what is assumed."""

    messages: dict[int, Messages]
    origin: str
    warnings: list[str] = field(default_factory=list)
    node_s_per_B: float = 0.0
    """Of a node's link into the network, which its ranks share; 0 where it is not known."""
    copy_s_per_B: float = _WORK_S_PER_B
    reduce_s_per_B: float = _WORK_S_PER_B
    largest_B: int | None = None
    """Of the messages that were measured; None where none were."""
    one_node: int | None = None
    """Ranks that one node is known to hold: up to so many need no network where there is no place. None: any."""
    network: str = ""
    """What is assumed of messages between nodes, in words; empty where they were measured or are not known."""
    lacking: str = ""
    """What is missing to assume something of them, in words."""

    def nearest(self, locality: int) -> int:
        """Itself where it was measured, else the nearest measured one farther out, else farther in."""
        return min(self.messages, key=lambda known: (known < locality, abs(known - locality)))

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

    def on_nodes(self, nodes: int | None) -> MachineCosts:
        """Those of ranks without a place that are known to be on so many nodes; None: that is not known.

        A locality that was asked for stays.
        """
        if nodes is None or self.one_node is None:
            return self
        return replace(self, one_node=sys.maxsize if nodes == 1 else 1)

    def alike(self, ranks: int) -> MachineCosts:
        """Those of so many ranks without a place: all pairs are as far apart as the farthest locality known.

        Up to `one_node` ranks a network that is only assumed is left out. RequestError as `check_network`.
        """
        self.check_network(None, ranks)
        farthest = self._farthest(ranks)
        return replace(self, messages={farthest: self.messages[farthest]}, one_node=None)

    def _farthest(self, ranks: int) -> int:
        inside = [locality for locality in self.messages if locality != NETWORK]
        fits = self.one_node is not None and ranks <= self.one_node
        return max(inside) if inside and fits and self.network else max(self.messages)

    def assumptions(self, place: Place | None, ranks: int) -> list[str]:
        """What stands in for localities that these ranks need and nobody measured, in words."""
        if ranks < 2:
            return []
        used = [self._farthest(ranks)] if place is None else place.localities
        said = []
        for locality in used:
            if locality not in self.messages:
                name, nearest = LOCALITIES[locality], LOCALITIES[self.nearest(locality)]
                said.append(f"{name}: messages were not measured, those of {nearest} are taken")
        if place is None and used != [NETWORK] and self.one_node is not None:
            apart = f"as far apart as {LOCALITIES[used[0]]}, the farthest measured there"
            said.append(f"all ranks are taken to be on one node, {apart}")
        return [*said, self.network] if self.assumes_network(place, ranks) else said

    def assumes_network(self, place: Place | None, ranks: int) -> bool:
        """Whether these ranks send messages between nodes whose costs were given, not measured."""
        far = self._farthest(ranks) == NETWORK if place is None else place.is_spread
        return bool(self.network) and ranks > 1 and far

    @property
    def copies_cost(self) -> bool:
        """Whether copies inside a rank take time."""
        return self.copy_s_per_B > 0

    def at(self, localities: Sequence[int]) -> Costs:
        """Those of the nearest locality that was measured: see `check_network` and `assumptions`."""
        messages = [self.messages[self.nearest(locality)].curves() for locality in localities]
        if self.node_s_per_B and localities[-1] == NETWORK:
            messages[-1][TERMS.index("node_link")] = per_byte(self.node_s_per_B)
        return Costs(messages, per_byte(self.copy_s_per_B), per_byte(self.reduce_s_per_B))

    def beyond(self, size_B: int) -> list[str]:
        """How far messages of that size lie beyond the measured ones, in words; empty inside."""
        if not self.largest_B or size_B <= self.largest_B:
            return []
        return [
            f"asked for {size_B} B, messages were measured up to {self.largest_B} B "
            f"({size_B / self.largest_B:.3g} times): extrapolated"
        ]

    def replaced(self, given: Mapping[str, float | None]) -> MachineCosts:
        """With LogGOPS parameters, and those of local work, in place of the machine's."""
        of_message = {name: value for name, value in given.items() if name not in WORK}
        return replace(
            self,
            messages={locality: messages.replaced(of_message) for locality, messages in self.messages.items()},
            copy_s_per_B=float(given.get("copy_s_per_B", self.copy_s_per_B) or 0),
            reduce_s_per_B=float(given.get("reduce_s_per_B", self.reduce_s_per_B) or 0),
        )

    def described(self, given: Mapping[str, float | None], localities: Sequence[int]) -> dict[str, Any]:
        """{locality: {parameter: {value, from}}} as LogGOPS, where `given` were replaced; None: all are eager."""
        described: dict[str, Any] = {}
        for locality in localities:
            messages = self.messages[self.nearest(locality)]
            known = {
                name: {"value": value, "from": messages.origins.get(name, "not measured")}
                for name, value in messages.parameters().items()
            }
            for name in WORK:
                told_by = COMMAND_LINE if name in given else f"assumed: {1e-9 / _WORK_S_PER_B:.0f} GB/s"
                known[name] = {"value": getattr(self, name), "from": told_by}
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
    """Where the system's mapping puts ranks, and costs that know the link they share.

    RequestError for what the system does not hold.
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


def of_machine(machine: Machine, origin: str, *, both_ways: bool = False) -> MachineCosts:
    """From the ping-pongs of a machine file. RequestError where it has none of a known locality.

    The time between two messages is that of many in a row, where those were measured; with `both_ways`, of many
    in either direction.
    """
    messages: dict[int, Messages] = {}
    largest_B: list[int] = []
    warnings = [f"reductions and copies were not measured: {1e-9 / _WORK_S_PER_B:.0f} GB/s is assumed"]
    for locality, name in enumerate(LOCALITIES):
        entry = _entry(machine, name)
        if entry is not None:
            messages[locality] = _with_rate(_of_entry(entry, origin), machine, name, origin, both_ways=both_ways)
            largest_B += [max(point.size_B for point in points)] if (points := entry.measurements.points) else []
    if not messages:
        raise RequestError(
            f"{origin} has no ping-pong of a known locality",
            "measure one: `hockney measure`, `hockney fit`, or describe the system with --system",
        )
    return MachineCosts(
        messages, origin, warnings, largest_B=min(largest_B, default=None), one_node=ranks_of_one_node(machine)
    )


def ranks_of_one_node(machine: Machine) -> int:
    """How many ranks any of the machine's nodes is known to hold: its CPUs, or the two of a measured pair."""
    return max(2, min((host.cpus for host in machine.system.hosts if host.cpus), default=2))


def of_system(system: System) -> MachineCosts:
    """A bound from a description alone: published rates and latencies, else what is usual on such machines."""
    import pandas as pd

    nothing = pd.DataFrame(columns=["operation", "statistic", "time_s", "bytes", "mapping", "repetition"])
    times = message_times(nothing, system)
    messages = {}
    for locality in range(len(LOCALITIES)):
        one_way = np.array([times(locality, size_B) for size_B in SIZES_B])
        overhead_s = OVERHEAD_SHARE * one_way[0]
        origins = dict.fromkeys(("latency_s", "gap_s_per_B"), f"the description of {system.name}")
        origins |= dict.fromkeys(_OF_LOGGP, ASSUMED)
        messages[locality] = Messages(
            one_way, overhead_s, overhead_s, one_way - one_way[0] + overhead_s, origins=origins
        )
    warning = f"nothing was measured: the description of {system.name} and usual latencies give a rough bound"
    return MachineCosts(messages, f"the description of {system.name}", [warning])


def usual() -> MachineCosts:
    """Where neither machine nor system is given: what is usual on clusters of today, to compare algorithms."""
    system = System(
        schema_version=1,
        name="a usual cluster",
        source="usual latencies and bandwidths",
        node=Node(packages=1, cores_per_cache=1),
        network=SystemNetwork(topology="switch"),
        mappings={"core": Places(order=["core", "cache", "numa", "package", "node"])},
    )
    costs = of_system(system)
    warning = "no machine.json here, no --machine, --table or --system: usual latencies and bandwidths are taken"
    return MachineCosts(costs.messages, "usual costs of a cluster", [warning])


def _entry(machine: Machine, locality: str, operation: str = "pingpong") -> Entry | None:
    """The ping-pong of a locality in the default variant and a warm cache, where there is one."""
    of_it = [
        entry
        for entry in machine.point_to_point
        if entry.operation == operation and entry.locality == locality and "piecewise" in entry.fits
    ]
    usual = [entry for entry in of_it if entry.variant in ("", "default") and entry.cache in ("", "warm")]
    return next(iter(usual or of_it), None)


def _of_entry(entry: Entry, origin: str) -> Messages:
    one_way = predict_fit(entry.fits["piecewise"], SIZES_B)
    loggp = entry.fits.get("loggp")
    origin = f"{origin}, {entry.locality}"
    origins = dict.fromkeys(("latency_s", "gap_s_per_B"), f"{origin}: piecewise")
    if entry.eager_limit_B is not None:
        origins["rendezvous_above_B"] = f"{origin}: eager limit of the library"
    if loggp is None:
        overhead_s = OVERHEAD_SHARE * float(one_way[0])
        return Messages(
            one_way,
            overhead_s,
            overhead_s,
            one_way - one_way[0] + overhead_s,
            entry.eager_limit_B,
            origins=origins | dict.fromkeys(_OF_LOGGP, ASSUMED),
        )
    between = _value(loggp, "g") + np.maximum(SIZES_B - 1, 0) * _value(loggp, "G")
    return Messages(
        one_way,
        _value(loggp, "o_s"),
        _value(loggp, "o_r"),
        between,
        entry.eager_limit_B,
        origins=origins | dict.fromkeys(_OF_LOGGP, f"{origin}: loggp"),
    )


def _with_rate(messages: Messages, machine: Machine, locality: str, origin: str, *, both_ways: bool) -> Messages:
    """With the time between messages that were measured many in a row, which bounds the processors' part too."""
    operation = "bidirectional"
    entry = _entry(machine, locality, operation) if both_ways else None
    if entry is None:
        if "gap_s" in messages.origins and messages.origins["gap_s"] != ASSUMED:
            return messages
        operation = "bandwidth"
        entry = _entry(machine, locality, operation)
    if entry is None:
        return messages
    between = np.maximum(predict_fit(entry.fits["piecewise"], SIZES_B), 0.0)
    if operation == "bandwidth":
        between = np.minimum(between, messages.one_way_s)
    source = f"{origin}, {locality}: {operation}"
    return replace(
        messages,
        send_s=min(messages.send_s, float(between[0])),
        receive_s=min(messages.receive_s, float(between[0])),
        between_s=between,
        origins={**messages.origins, "gap_s": source},
    )


def _value(fit: Fit, name: str) -> float:
    return max(fit.parameters[name].value, 0.0)
