"""A placement: for each rank its core, cache, NUMA domain, package and node, from a mapping.

Ids are global: two ranks with the same id share that object. A mapping is a nest of loops over the levels, as in
the launchers' `--map-by` (Open MPI 4: orte/mca/rmaps; Hursey, Squyres, Dontje, CLUSTER 2011).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.machine.system import LEVELS, Level, Mapping, System, Turn
from hockney.records.record import Locality
from hockney.units import counted

Ids = NDArray[np.int32]

DOMAINS: tuple[Level, ...] = ("cache", "numa", "package", "node")
"""The levels at which ranks share something, innermost first."""

_MOST = 2**31
"""Ids are 32-bit numbers."""


@dataclass(frozen=True)
class Placement:
    """The positions of ranks. Arrays have one global id per rank, shape (ranks,), int32.

    `network_coordinates` has shape (ranks, dimensions), or is None where the network has none or its shape for
    that number of nodes is not known. `binding` is the level that a rank cannot leave: below it the ids are
    where it starts, not where it stays; None where that is not known.
    """

    core: Ids
    cache: Ids
    numa: Ids
    package: Ids
    node: Ids
    network_coordinates: Ids | None = None
    binding: Level | None = "core"

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return int(self.core.size)

    @property
    def nodes(self) -> int:
        """How many nodes hold ranks."""
        return int(np.unique(self.node).size)

    @property
    def ppn(self) -> int:
        """The largest number of ranks on one node."""
        return int(np.unique(self.node, return_counts=True)[1].max())

    @property
    def turns(self) -> Ids:
        """For each rank how many ranks before it are on its core: hardware threads that are taken, or turns."""
        order = np.argsort(self.core, kind="stable")
        _, first, of_core = np.unique(self.core[order], return_index=True, return_inverse=True)
        turns = np.empty_like(self.core)
        turns[order] = np.arange(self.ranks) - first[of_core]
        return turns

    @property
    def levels(self) -> tuple[Level, ...]:
        """Names of `domains()`, innermost first."""
        return DOMAINS

    def domains(self) -> list[Ids]:
        """Ids of each rank's cache, NUMA domain, package and node: in the first that is equal, two ranks meet."""
        return [self.cache, self.numa, self.package, self.node]

    def locality(self, a: int, b: int) -> Locality:
        """The innermost level that holds ranks `a` and `b`, `network` where none does."""
        ids = zip(LEVELS, (self.core, *self.domains()), strict=True)
        return next((level for level, id_of in ids if id_of[a] == id_of[b]), "network")


def placement(
    system: System, mapping: str, ranks: int, nodes: int | None = None, ppn: int | None = None
) -> Placement:
    """The placement of `ranks` ranks by `mapping` (a word of the system file, "" for its default).

    `nodes` is the number of nodes used and `ppn` the largest number of ranks on one, as the tidy table has them;
    where they are not given the mapping's own apply, else nodes are filled. RequestError for an unknown mapping,
    for no ranks, for more than the nodes hold, and for `nodes` and `ppn` that contradict the rest.
    """
    rule = system.mapping(mapping)
    word = f"mapping {mapping or system.default_mapping!r} of {system.name}"
    for name, value in (("ranks", ranks), ("nodes", nodes), ("ppn", ppn)):
        if value is not None and not 1 <= value < _MOST:
            raise RequestError(
                f"{name} must be at least 1 and below {_MOST}, not {value}", f"for example {name} 2"
            )
    # Before an array is made of them.
    _enough(system, -(-ranks // system.node.slots), ranks, word)
    if rule.restricted:
        cores = _restricted(system, rule, ranks, word)
    else:
        used, per_node = _extent(system, rule, ranks, nodes, ppn, word)
        threads = _slots(system, rule.order, used, _inner(system, rule.order)[:per_node], ranks)
        of_node, thread = np.divmod(threads, system.node.slots)
        cores = of_node * system.node.cores + thread % system.node.cores
    _within(system, cores, word)
    placed = _of_cores(system, cores, rule.binding)
    _agrees(placed, rule, nodes, ppn, word)
    return placed


def placement_of_pair(system: System, channel: str, receiver: int) -> Placement:
    """Sender and receiver (ranks 0 and 1) of a ping-pong whose table has `channel` as mapping.

    `receiver` is the core that the table gives as `repetition`. RequestError for an unknown channel or core.
    """
    if channel not in system.channels:
        known = f"known: {', '.join(system.channels)}" if system.channels else "this system describes none"
        raise RequestError(f"{system.name} has no ping-pong channel {channel!r}", known)
    if not 0 <= receiver < system.node.cores:
        raise RequestError(
            f"core {receiver} is none of the {system.node.cores} cores of a node of {system.name}", "count from 0"
        )
    ends = system.channels[channel]
    cores = np.array([ends.sender_core, receiver + ends.receiver_offset], dtype=np.int64)
    _within(system, cores, f"channel {channel} of {system.name}")
    return _of_cores(system, cores, "core")


def _extent(
    system: System, rule: Mapping, ranks: int, nodes: int | None, ppn: int | None, word: str
) -> tuple[int, int]:
    """Nodes and the most ranks on one, from the arguments and the mapping."""
    used = nodes or (rule.nodes if ppn is None else None)
    if used is None and ppn is None and rule.ppn is None and rule.order[-1] != "node":
        used = system.nodes
        if used is None:
            raise RequestError(
                f"{word} spreads ranks over the nodes, and how many there are is not known",
                "say how many nodes are used, or how many ranks are on one",
            )
    cores, slots = system.node.cores, system.node.slots
    # More ranks than cores share these only where the nodes that are used leave no other room.
    per_node = ppn or rule.ppn or (slots if used and used * cores < ranks else cores)
    if per_node == "even":
        per_node = -(-ranks // (used or 1))
    if per_node > slots:
        raise RequestError(
            f"{per_node} ranks on a node of {system.name}, which has {_cores(system)}", "use more nodes"
        )
    used = used or -(-ranks // per_node)
    if used * per_node < ranks:
        raise RequestError(
            f"{word}: {used} nodes with {per_node} ranks each hold {used * per_node} ranks, not {ranks}",
            "use more nodes, or more ranks on each",
        )
    return used, per_node


def _digits(system: System, local: NDArray[np.int64]) -> dict[Turn, NDArray[np.int64]]:
    """The numbers of a node's hardware threads inside each level: first those of all cores, then the second."""
    digits: dict[Turn, NDArray[np.int64]] = {}
    rest = local
    for level, radix in system.node.radices.items():
        digits[level] = rest % radix
        rest = rest // radix
    digits["thread"] = rest
    return digits


def _inner(system: System, order: list[Turn]) -> NDArray[np.int64]:
    """The hardware threads of one node in the order in which they are used."""
    local = np.arange(system.node.slots)
    digits = _digits(system, local)
    turns = [level for level in order if level != "node"]
    # np.lexsort takes the slowest key last, which is how the file writes them.
    return local[np.lexsort([digits[level] for level in dict.fromkeys([*turns, "thread"])])]


def _slots(
    system: System, order: list[Turn], nodes: int, local: NDArray[np.int64], ranks: int
) -> NDArray[np.int64]:
    """Hardware threads of the first `ranks` ranks on `nodes` nodes, each of which has those in `local`."""
    digits = _digits(system, local)
    slower = [digits[level] for level in order[order.index("node") + 1 :]]
    changes = np.zeros(local.size - 1, dtype=bool)
    for digit in slower:
        changes |= np.diff(digit) != 0
    slots: list[NDArray[np.int64]] = []
    missing = ranks
    # All nodes take a group of cores before the next group begins: the levels outside the loop over the nodes.
    for group in np.split(local, np.flatnonzero(changes) + 1):
        needed = min(nodes, -(-missing // group.size))
        first = np.arange(needed, dtype=np.int64)[:, None] * system.node.slots
        slots.append((first + group).reshape(-1)[:missing])
        missing -= slots[-1].size
        if missing == 0:
            break
    return np.concatenate(slots)


def _restricted(system: System, rule: Mapping, ranks: int, word: str) -> NDArray[np.int64]:
    """Cores of a mapping that names some: `first_cores`, then those from `from_core` to `to_core`, in `order`."""
    head = np.array(rule.first_cores, dtype=np.int64)[:ranks]
    others = ranks - head.size
    if others == 0:
        return head
    per_node = system.node.cores
    # One node more than could be needed: in the last one the order is not that of the core numbers.
    end = rule.from_core + ranks + per_node
    if rule.to_core is not None:
        end = min(end, rule.to_core + 1)
    before = rule.from_core // per_node
    nodes = -(-end // per_node) - before
    once = _inner(system, rule.order)
    threads = _slots(system, rule.order, nodes, once[once < per_node], nodes * per_node)
    of_node, core = np.divmod(threads, system.node.slots)
    cores = (of_node + before) * per_node + core
    cores = cores[(cores >= rule.from_core) & (cores < end) & ~np.isin(cores, head)]
    if cores.size < others:
        raise RequestError(f"{word} has {head.size + cores.size} cores, not {ranks}", "ask for fewer ranks")
    return np.concatenate([head, cores[:others]])


def _within(system: System, cores: NDArray[np.int64], word: str) -> None:
    needed = int(cores.max()) // system.node.cores + 1
    if int(cores.max()) >= _MOST:
        raise RequestError(f"{word} needs {needed} nodes: more cores than can be numbered", "ask for fewer ranks")
    _enough(system, needed, cores.size, word)


def _enough(system: System, needed: int, ranks: int, word: str) -> None:
    """RequestError where the system has fewer than the `needed` nodes."""
    if system.nodes is not None and needed > system.nodes:
        raise RequestError(
            f"{word} needs {needed} nodes for {ranks} ranks; {system.name} has {system.nodes} "
            f"of {_cores(system)}",
            "ask for fewer ranks, or more on a node",
        )


def _cores(system: System) -> str:
    cores, threads = system.node.cores, system.node.slots // system.node.cores
    return f"{cores} cores with {threads} hardware threads each" if threads > 1 else f"{cores} cores"


def _agrees(placed: Placement, rule: Mapping, nodes: int | None, ppn: int | None, word: str) -> None:
    """RequestError where the placement has other nodes than requested, or more ranks on one than `ppn`."""
    if nodes is not None and placed.nodes != min(nodes, placed.ranks):
        raise RequestError(
            f"{word} puts {counted(placed.ranks, 'rank')} on {counted(placed.nodes, 'node')}, not {nodes}",
            "leave the nodes out, or say how many ranks are on one",
        )
    if rule.restricted and ppn is not None and placed.ppn > ppn:
        raise RequestError(f"{word} puts {placed.ppn} ranks on one node, not {ppn}", "leave that number out")


def _of_cores(system: System, cores: NDArray[np.int64], binding: Level | None) -> Placement:
    ids: dict[Level, Ids] = {"core": cores.astype(np.int32)}
    members = 1
    for level, radix in zip(LEVELS[1:], system.node.radices.values(), strict=True):
        members *= radix
        ids[level] = (cores // members).astype(np.int32)
    return Placement(**ids, network_coordinates=_coordinates(system, ids["node"]), binding=binding)


def _coordinates(system: System, node: Ids) -> Ids | None:
    """Row-major: the last dimension changes from node to node. The job's shape is that of the nodes it uses."""
    shape = system.network.shapes.get(int(node.max()) + 1, system.network.shape)
    return None if not shape else np.stack(np.unravel_index(node, shape), axis=1).astype(np.int32)
