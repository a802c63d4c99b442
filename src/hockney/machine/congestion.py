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
    return _of_network(network) if found is None and network is not None else found


def _own_network(machine: Machine) -> Network | None:
    """None where the machine file names none, or an edge list that is not here."""
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
    everybody = Allocated(Links.of(network), np.arange(network.nodes))
    worst = study(everybody, traffic="worst_pairing", routing="shortest", size_B=1.0).factor_of_all_links
    return Congestion(
        Statement(
            text=f"C = {worst:.3g}",
            latex=f"C = {worst:.3g}",
            source=f"{network.spec}: every node with the farthest other, all links sending, ideal shortest paths",
        ),
        worst,
        network,
    )
