"""How much longer a byte takes at worst: measured, published, or from the topology."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.models.effects.base import Effect
from hockney.models.views import Statement, statement
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.study import study
from hockney.network.traffic.worst import MOST_SYMMETRIC, worst_of_permutations

FEW_NODES = 512
"""Largest network that is assigned without a request: it takes seconds. A torus or hypercube is always quick."""
_EVENLY = "every pair evenly over its shortest paths, links by assignment (Towles and Dally, SPAA 2002)"
_NO_BOUND = "worst by distance, not a bound"


@dataclass(frozen=True)
class Congestion:
    """β becomes C·β for the worst mapping. `value` is None where only its formula is known.

    `is_bound`: no mapping has more. False: C is of the pairing with the largest distance, and others have more.
    """

    definition: Statement
    value: float | None
    is_bound: bool = True


@dataclass(frozen=True)
class MeasuredShare:
    """An effective bisection bandwidth on `ranks` ranks, as a share of full bisection, and its 95 % interval.

    The effect counts one way: one half of the ranks sends.
    """

    ranks: int
    fraction: float
    low: float | None
    high: float | None
    ways: str = "one way"


def measured_shares(machine: Machine) -> list[MeasuredShare]:
    """Of each number of ranks that the machine's campaigns have, in their order; the first of several alike.

    RequestError where none was measured.
    """
    shares: dict[int, MeasuredShare] = {}
    for effect in machine.effects:
        share = effect.parameters.get("effective_fraction") if effect.effect == "congestion" else None
        if share is not None and effect.ranks is not None and _speaks_of(effect, None):
            shares.setdefault(effect.ranks, MeasuredShare(effect.ranks, share.value, share.low, share.high))
    if not shares:
        raise RequestError(
            "the machine file has no effective bisection bandwidth between nodes",
            "measure it on 4 or more ranks, one a node: `hockney measure --operation congestion -o FOLDER`",
        )
    return [shares[ranks] for ranks in sorted(shares)]


class Congestions:
    """The congestion of a given topology, else the machine file's: measured, published, or of its topology.

    RequestError where the given topology cannot be built.
    """

    def __init__(self, machine: Machine, topology: str = "") -> None:
        self._machine = machine
        self._given = _of_network(parse_spec(topology)) if topology else None

    def at(self, entry: Entry | None = None) -> Congestion | None:
        """The congestion of an entry's MPI and variant, else of the default variant; None where it is unknown."""
        if self._given is not None:
            return self._given
        effects = [
            effect
            for effect in self._machine.effects
            if effect.effect == "congestion" and _speaks_of(effect, entry)
        ]
        return _of_effects(effects) or self._of_own_topology

    @cached_property
    def _of_own_topology(self) -> Congestion | None:
        network = known_network(self._machine.topology)
        if network is None:
            return None
        is_quick = network.nodes <= FEW_NODES or bool(network.shape) or network.kind == "hypercube"
        if not is_quick and not _known(network):
            return None
        return _of_network(network)


def _speaks_of(effect: Effect, entry: Entry | None) -> bool:
    """Whether it was measured between nodes, with the same MPI and variant where both say theirs.

    With several ranks on a core the scheduler decides, not the network.
    """
    if effect.locality not in ("network", None):
        return False
    usual, shared = ("", "default"), bool(effect.oversubscribed)
    if entry is None:
        return effect.variant in usual and not shared
    mpi = entry.other.get("mpi", "")
    same_variant = effect.variant == entry.variant or (effect.variant in usual and entry.variant in usual)
    return same_variant and (not mpi or effect.mpi in ("", mpi)) and (not shared or bool(entry.oversubscribed))


def known_network(topology: str) -> Network | None:
    """None where a file names none, or one that cannot be built here: an edge list elsewhere."""
    if not topology:
        return None
    try:
        return parse_spec(topology)
    except RequestError:
        return None


def _of_effects(effects: list[Effect]) -> Congestion | None:
    """The greatest that was measured, else a published formula."""
    measured = [
        (effect.parameters["worst_congestion"], effect)
        for effect in effects
        if "worst_congestion" in effect.parameters
    ]
    if measured:
        worst, effect = max(measured, key=lambda entry: entry[0].value)
        number = f"{worst.value:.3g}"
        return Congestion(_defined(effect, f"C = {number}"), worst.value)
    for effect in effects:
        if (per_root := effect.parameters.get("C_per_cbrt_P")) is not None:
            number = f"{per_root.value:.3g}"
            # Hoefler et al. 2010 have it from the farthest pairing, which a tornado exceeds.
            return Congestion(_defined(effect, f"C = {number}·∛P"), None, is_bound=False)
    return None


def _defined(effect: Effect, text: str) -> Statement:
    return statement(text, source=effect.source or "effect congestion, measured")


def _of_network(network: Network) -> Congestion:
    """All links of every node sending. No bound where neither a proof nor an assignment gives the worst."""
    if (known := _known(network)) is not None:
        worst, how = known
    else:
        try:
            worst, how = _assigned(network), _EVENLY
        except RequestError:
            return _by_distance(network)
    source = f"{network.spec}: the worst permutation, all links of a node sending; {how}"
    return Congestion(statement(f"C = {worst:.3g}", source=source), worst)


def _assigned(network: Network) -> float:
    """RequestError for networks that take too long."""
    if network.nodes > MOST_SYMMETRIC:
        raise RequestError(f"{network.nodes} nodes are too many for assignments", "at most 2048")
    links = Links.of(network)
    ports = np.bincount(links.tail, minlength=network.vertices)[: network.nodes].min()
    # What a node sends must leave by its own links: never below 1.
    return max(1.0, worst_of_permutations(Allocated(links, np.arange(network.nodes))).congestion * float(ports))


def _known(network: Network) -> tuple[float, str] | None:
    """What needs no assignment, by proof.

    Single switch: nobody shares a link. Fat tree, spread evenly over the ways up: what leaves a leaf or a pod
    shares its links up. Ring of k: with ⌈k/2⌉ − 1 further all the same
    way round, as many share a link: of a pairing over one link the hops of sender and receiver to it add up to at
    most k/2 − 1, or to k/2 with half a message each, k/4 in all.
    """
    if network.kind == "single_switch":
        return 1.0, "nobody shares a link"
    if "taper" in network.attributes:
        return max(1.0, float(str(network.attributes["taper"]))), "its taper"
    extents = [extent for extent in network.shape if extent > 1]
    if len(extents) == 1 and extents[0] > 2:
        return 2.0 * max((extents[0] - 1) // 2, extents[0] / 4), "tornado"
    return None


def _by_distance(network: Network) -> Congestion:
    """A torus, hypercube or other graph too large for assignments: a pairing that is bad, but not the worst."""
    if network.kind == "hypercube":
        far = float(network.nodes.bit_length() - 1)
    elif network.shape:
        # ⌊k/2⌋ hops of each node in every dimension, half of them each way where k is even, times its links.
        extents = [extent for extent in network.shape if extent > 1]
        ports = sum(2 if extent > 2 else 1 for extent in extents)
        loads = [extent / 4 if extent % 2 == 0 and extent > 2 else extent // 2 for extent in extents]
        far = max([1.0, *(load * ports for load in loads)])
    else:
        everybody = Allocated(Links.of(network), np.arange(network.nodes))
        far = study(everybody, traffic="worst_pairing", routing="shortest", size_B=1.0).factor_of_all_links
    source = f"{network.spec}: every node with the farthest other, all its links sending; {_NO_BOUND}"
    return Congestion(statement(f"C = {far:.3g}", source=source), far, is_bound=False)
