"""How much longer a byte takes at worst: measured, published, or from the topology."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.machine.topologies.base import Network, parse_spec
from hockney.machine.traffic.base import Links
from hockney.machine.traffic.demands.base import Allocated
from hockney.machine.traffic.study import study
from hockney.models.effects.base import Effect
from hockney.models.views import Statement

FEW_NODES = 512
"""Routed without being asked for: a second."""


@dataclass(frozen=True)
class Congestion:
    """β becomes C·β for the worst mapping. `value` is None where only its formula is known."""

    definition: Statement
    value: float | None
    network: Network | None = None


class Congestions:
    """From the topology that is given, else as the machine file has it: measured or published, else its topology.

    RequestError where the given topology cannot be built.
    """

    def __init__(self, machine: Machine, topology: str = "") -> None:
        self._machine = machine
        self._given = _of_network(parse_spec(topology)) if topology else None

    def at(self, entry: Entry | None = None) -> Congestion | None:
        """Of an entry's MPI and variant; without one, of the default variant and every MPI. None: not known."""
        if self._given is not None:
            return self._given
        effects = [one for one in self._machine.effects if one.effect == "congestion" and _speaks_of(one, entry)]
        return _of_effects(effects, self._network) or self._of_own_topology

    @cached_property
    def _network(self) -> Network | None:
        return _own_network(self._machine)

    @cached_property
    def _of_own_topology(self) -> Congestion | None:
        network = self._network
        if network is None or not (network.nodes <= FEW_NODES or _known(network)):
            return None
        return _of_network(network)


def congestion_of(machine: Machine, topology: str = "") -> Congestion | None:
    """Of the default variant and every MPI; `Congestions` tells that of an entry."""
    return Congestions(machine, topology).at()


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


def _own_network(machine: Machine) -> Network | None:
    """None where the machine file names none, or one that cannot be built here: an edge list elsewhere."""
    if not machine.topology:
        return None
    try:
        return parse_spec(machine.topology)
    except RequestError:
        return None


def _of_effects(effects: list[Effect], network: Network | None) -> Congestion | None:
    """The greatest that was measured, else a published formula."""
    measured = [
        (one.parameters["worst_congestion"], one) for one in effects if "worst_congestion" in one.parameters
    ]
    if measured:
        worst, effect = max(measured, key=lambda one: one[0].value)
        number = f"{worst.value:.3g}"
        return Congestion(_defined(effect, f"C = {number}", f"C = {number}"), worst.value, network)
    for effect in effects:
        if (per_root := effect.parameters.get("C_per_cbrt_P")) is not None:
            number = f"{per_root.value:.3g}"
            return Congestion(_defined(effect, f"C = {number}·∛P", rf"C = {number}\sqrt[3]{{P}}"), None, network)
    return None


def _defined(effect: Effect, text: str, latex: str) -> Statement:
    return Statement(text=text, latex=latex, source=effect.source or "effect congestion, measured")


def _of_network(network: Network) -> Congestion:
    """Every node with the farthest other, all links of every node sending, ideal shortest paths."""
    worst, how = _known(network) or (_routed(network), "routed link by link")
    return Congestion(
        Statement(
            text=f"C = {worst:.3g}",
            latex=f"C = {worst:.3g}",
            source=f"{network.spec}: every node with the farthest other, all its links sending; {how}",
        ),
        worst,
        network,
    )


def _known(network: Network) -> tuple[float, str] | None:
    """Without routing, which takes minutes on thousands of nodes.

    Torus: ⌊k/2⌋ hops of each node in every dimension, half of them each way where k is even, times its links.
    Hypercube: as many hops as links. Fat tree: what all ports down share of those up.
    """
    if network.kind == "hypercube":
        return float(network.nodes.bit_length() - 1), "hops to the opposite corner"
    if network.shape:
        extents = [extent for extent in network.shape if extent > 1]
        ports = sum(2 if extent > 2 else 1 for extent in extents)
        loads = [extent / 4 if extent % 2 == 0 and extent > 2 else extent // 2 for extent in extents]
        return max([1.0, *(load * ports for load in loads)]), "hops in the longest dimension"
    if "taper" in network.attributes:
        return max(1.0, float(network.attributes["taper"])), "its taper"
    return None


def _routed(network: Network) -> float:
    everybody = Allocated(Links.of(network), np.arange(network.nodes))
    return study(everybody, traffic="worst_pairing", routing="shortest", size_B=1.0).factor_of_all_links
