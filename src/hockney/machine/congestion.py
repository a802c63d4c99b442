"""How much longer a byte takes at worst: measured, published, or from the topology."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.topologies.base import Network, parse_spec
from hockney.machine.traffic.base import Links
from hockney.machine.traffic.demands.base import Allocated
from hockney.machine.traffic.study import study
from hockney.models.views import Statement

FEW_NODES = 512
"""Routed without being asked for: a second."""


@dataclass(frozen=True)
class Congestion:
    """β becomes C·β for the worst mapping. `value` is None where only its formula is known."""

    definition: Statement
    value: float | None
    network: Network | None = None


def congestion_of(machine: Machine, topology: str = "") -> Congestion | None:
    """From the topology that is given, else as the machine file has it: measured or published, else its topology.

    RequestError where the given topology cannot be built. None where nothing is known.
    """
    if topology:
        return _of_network(parse_spec(topology))
    network = _own_network(machine)
    found = _of_effect(machine, network)
    if found is not None or network is None:
        return found
    return _of_network(network) if network.nodes <= FEW_NODES or _known(network) else None


def _own_network(machine: Machine) -> Network | None:
    """None where the machine file names none, or one that cannot be built here: an edge list elsewhere."""
    if not machine.topology:
        return None
    try:
        return parse_spec(machine.topology)
    except RequestError:
        return None


def _of_effect(machine: Machine, network: Network | None) -> Congestion | None:
    for effect in machine.effects:
        if effect.effect != "congestion":
            continue
        source = effect.source or "effect congestion, measured"
        if (worst := effect.parameters.get("C_worst")) is not None:
            number = f"{worst.value:.3g}"
            statement = Statement(text=f"C = {number}", latex=f"C = {number}", source=source)
            return Congestion(statement, worst.value, network)
        if (per_root := effect.parameters.get("C_per_cbrt_P")) is not None:
            number = f"{per_root.value:.3g}"
            statement = Statement(text=f"C = {number}·∛P", latex=rf"C = {number}\sqrt[3]{{P}}", source=source)
            return Congestion(statement, None, network)
    return None


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
