"""Costs of messages and local work on a machine, from its machine file or its description."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.machine.placement import placement
from hockney.machine.select import differences, matching, preferred, title, words
from hockney.machine.system import System
from hockney.models.base import Fit, corrected, interval
from hockney.predict.costs import TERMS, Costs, per_byte
from hockney.predict.message_costs import (
    ASSUMED_SHARES,
    COMMAND_LINE,
    OVERHEAD_SHARE,
    PROCESSOR,
    SIZES_B,
    Array,
    Messages,
)
from hockney.predict.place import LOCALITIES, NETWORK, Place, place_of
from hockney.predict.point_to_point import MessageTimes
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
    copy_s_per_B: float = _WORK_S_PER_B
    reduce_s_per_B: float = _WORK_S_PER_B
    largest_B: int | None = None
    """The largest message measured; None where none was."""
    one_node: int | None = None
    """Ranks that fit on one node as far as is known: so many, without a place, need no network. None: any."""
    network: str = ""
    """What is assumed of messages between nodes, in words; empty where they were measured or are unknown."""
    lacking: str = ""
    """What such an assumption lacks, in words."""

    def nearest(self, locality: int) -> int:
        """The locality itself if measured, else the nearest measured one farther out, else farther in."""
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

    def at_end(self, end: int) -> MachineCosts | None:
        """The costs where all messages take the low (0) or the high (1) end of their intervals; None without."""
        ends = {locality: messages.at_end(end) for locality, messages in self.messages.items()}
        known = {locality: messages for locality, messages in ends.items() if messages is not None}
        return replace(self, messages=known) if len(known) == len(ends) else None

    def unsure(self, *, reduces: bool) -> list[MachineCosts]:
        """The costs themselves, and with other values of what was assumed: see `SHARES`; reductions cost nothing
        in some, where they are asked for."""
        assumed = any(messages.assumed_names for messages in self.messages.values())
        made = []
        for share in SHARES if assumed else SHARES[:1]:
            messages = {
                locality: Messages.assumed(one.one_way_s, one.origins, one.rendezvous_above_B, share)
                if one.assumed_names == set(PROCESSOR)
                else one
                for locality, one in self.messages.items()
            }
            for reduce_s_per_B in {self.reduce_s_per_B: None, 0.0: None} if reduces else (self.reduce_s_per_B,):
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
        messages = [self.messages[self.nearest(locality)].curves() for locality in localities]
        if self.node_s_per_B and localities[-1] == NETWORK:
            messages[-1][TERMS.index("node_link")] = per_byte(self.node_s_per_B)
        if self.link_s_per_B and localities[-1] == NETWORK:
            messages[-1][TERMS.index("network_link")] = per_byte(self.link_s_per_B)
        return Costs(messages, per_byte(self.copy_s_per_B), per_byte(self.reduce_s_per_B))

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
        return replace(
            self,
            messages={locality: messages.replaced(of_message) for locality, messages in self.messages.items()},
            copy_s_per_B=float(given.get("copy_s_per_B", self.copy_s_per_B) or 0),
            reduce_s_per_B=float(given.get("reduce_s_per_B", self.reduce_s_per_B) or 0),
        )

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
    warnings = [f"reductions and copies are assumed, not measured: {1e-9 / _WORK_S_PER_B:.0f} GB/s"]
    for locality, name in enumerate(LOCALITIES):
        entries = _entries(machine, name)
        if not entries:
            continue
        entry = entries[0]
        rates = _rates(machine, entry, both_ways=both_ways)
        for several in filter(None, (entries, rates)):
            warnings += _stand_ins(several, can_choose=where is not None)
        messages[locality] = replace(_of_entry(entry, origin), ends=_ends(entry))
        if rates:
            messages[locality] = _with_rate(messages[locality], rates[0], origin)
        largest_B += [max(point.size_B for point in points)] if (points := entry.measurements.points) else []
    if not messages:
        raise RequestError(
            f"{origin} has no ping-pong of a known locality",
            f"{WHERE_RANKS_WERE}; or measure one: `hockney measure`, `hockney fit`",
        )
    return MachineCosts(
        messages, origin, warnings, largest_B=min(largest_B, default=None), one_node=ranks_of_one_node(machine)
    )


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


def _entries(machine: Machine, locality: str, operation: str = "pingpong") -> list[Entry]:
    """The fitted entries of a locality that the usual words leave: several, where the conditions differ."""
    return preferred(
        [
            entry
            for entry in machine.point_to_point
            if entry.operation == operation and entry.locality == locality and "piecewise" in entry.fits
        ]
    )


def _stand_ins(entries: Sequence[Entry], *, can_choose: bool) -> list[str]:
    """Why the first of these entries is no obvious choice, in words; empty where it is."""
    first, said = entries[0], []
    if len(entries) > 1:
        among = "; ".join(
            f"{name} {', '.join(word or '(empty)' for word in there)}"
            for name, there in differences(entries).items()
        )
        choose = ": --where NAME=WORD chooses" if can_choose else ""
        said.append(
            f"{len(entries)} measured configurations answer ({among}); {title(first, entries)} is taken{choose}"
        )
    if first.variant not in ("", "default") or first.cache not in ("", "warm"):
        said.append(f"uses {title(first)}: the default variant with a warm cache was not measured")
    return said


def _of_entry(entry: Entry, origin: str) -> Messages:
    one_way = _times(entry)
    loggp = entry.fits.get("loggp")
    origin = f"{origin}, {entry.locality}"
    origins = dict.fromkeys(("latency_s", "gap_s_per_B"), f"{origin}: piecewise")
    if entry.eager_limit_B is not None:
        origins["rendezvous_above_B"] = f"{origin}: eager limit of the library"
    if loggp is None:
        return Messages.assumed(one_way, origins, entry.eager_limit_B)
    between = _value(loggp, "g") + np.maximum(SIZES_B - 1, 0) * _value(loggp, "G")
    return Messages(
        one_way,
        _value(loggp, "o_s"),
        _value(loggp, "o_r"),
        between,
        entry.eager_limit_B,
        origins=origins | dict.fromkeys(PROCESSOR, f"{origin}: loggp"),
    )


def _times(entry: Entry) -> Array:
    """Seconds of a message at each of SIZES_B, as `hockney predict` answers."""
    return corrected(entry.fits["piecewise"], SIZES_B, entry.measured)


def _ends(entry: Entry) -> tuple[Array, Array] | None:
    """The 95 % interval of a message's time at each of SIZES_B, as ratios to it."""
    bounds = interval(entry.fits["piecewise"], SIZES_B, entry.measured)
    time_s = _times(entry)
    if bounds is None or not (time_s > 0).all():
        return None
    return bounds[0] / time_s, bounds[1] / time_s


_CONDITIONS = ("variant", "mapping", "mpi", "system")


def _rates(machine: Machine, entry: Entry, *, both_ways: bool) -> list[Entry]:
    """Entries of many messages in a row under the ping-pong's conditions; empty where it has its own gap."""
    operations = ["bidirectional"] if both_ways else []
    if "loggp" not in entry.fits:
        operations.append("bandwidth")
    for operation in operations:
        rates = [
            rate
            for rate in _entries(machine, entry.locality or "", operation)
            if all(words(rate).get(name) == words(entry).get(name) for name in _CONDITIONS)
        ]
        if rates:
            return rates
    return []


def _with_rate(messages: Messages, rate: Entry, origin: str) -> Messages:
    """`messages` with the measured time between many in a row, which also bounds the processors' shares.

    Its interval is its own; where it has none, there is none of the whole.
    """
    between = _without_ends(_times(rate), messages.one_way_s, int(rate.other.get("window") or 0))
    if rate.operation == "bandwidth":
        between = np.minimum(between, messages.one_way_s)
    ends = _ends(rate)
    return replace(
        messages,
        ends=None if ends is None else messages.ends,
        between_ends=ends,
        send_s=min(messages.send_s, float(between[0])),
        receive_s=min(messages.receive_s, float(between[0])),
        between_s=between,
        origins={**messages.origins, "gap_s": f"{origin}, {rate.locality}: {rate.operation}"},
    )


def _without_ends(windowed: Array, one_way: Array, window: int) -> Array:
    """Times from one message of a window to the next: the first is one way under way, and an empty one answers
    (see `models.loggp`)."""
    if window < 2:
        return np.maximum(windowed, 0.0)
    gaps: Array = np.maximum(window * windowed - one_way - one_way[0], 0.0) / (window - 1)
    return gaps


def _value(fit: Fit, name: str) -> float:
    return max(fit.parameters[name].value, 0.0)
