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
from hockney.machine.traffic.worst import MOST_SYMMETRIC, worst_of_permutations
from hockney.models.views import Statement

FEW_NODES = 512
"""Without being asked for: seconds. A torus or hypercube takes seconds at most anyway."""
_EVENLY = "every pair evenly over its shortest paths, links by assignment (Towles and Dally, SPAA 2002)"
_NO_BOUND = "worst by distance, not a bound"


@dataclass(frozen=True)
class Congestion:
    """β becomes C·β for the worst mapping. `value` is None where only its formula is known.

    `is_bound`: no mapping has more. False: C is of the pairing with the largest distance, and others have more.
    """

    definition: Statement
    value: float | None
    network: Network | None = None
    is_bound: bool = True


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
    is_quick = network.nodes <= FEW_NODES or bool(network.shape) or network.kind == "hypercube"
    return _of_network(network) if is_quick or _known(network) else None


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
        if (worst := effect.parameters.get("worst_congestion")) is not None:
            number = f"{worst.value:.3g}"
            statement = Statement(text=f"C = {number}", latex=f"C = {number}", source=source)
            return Congestion(statement, worst.value, network)
        if (per_root := effect.parameters.get("C_per_cbrt_P")) is not None:
            number = f"{per_root.value:.3g}"
            statement = Statement(text=f"C = {number}·∛P", latex=rf"C = {number}\sqrt[3]{{P}}", source=source)
            # Document 003 has it from the farthest pairing, which a tornado exceeds.
            return Congestion(statement, None, network, is_bound=False)
    return None


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
    return Congestion(
        Statement(text=f"C = {worst:.3g}", latex=f"C = {worst:.3g}", source=source),
        worst,
        network,
    )


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
        return max(1.0, float(network.attributes["taper"])), "its taper"
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
    statement = Statement(text=f"C = {far:.3g}", latex=f"C = {far:.3g}", source=source)
    return Congestion(statement, far, network, is_bound=False)
