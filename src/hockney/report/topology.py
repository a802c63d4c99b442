"""The section on the network between nodes: its figure, hops, ports and bisection."""

from __future__ import annotations

import numpy as np

from hockney.errors import RequestError
from hockney.network.bisection.bisection import Bisection
from hockney.network.bisection.measure import NetworkMeasures, measure
from hockney.network.bisection.ports import ports
from hockney.network.topologies.base import parse_spec
from hockney.report.networks import draw
from hockney.report.page import Contribution, Section
from hockney.report.tables import Table


def contribution(spec: str) -> Contribution:
    """The section on a topology; a warning in place of it where the topology cannot be read."""
    try:
        network = parse_spec(spec)
    except RequestError as error:
        return Contribution(warnings=[f"The topology {spec} is not drawn: {error.message}."])
    measured = measure(network, np.arange(network.nodes))
    section = Section(
        "topology",
        "Network",
        f"The network between the nodes as described by {spec}; nothing of it was measured.",
        figures=[draw(measured)],
        tables=[_measures(measured), *([_ports(measured)] if ports(network) else [])],
    )
    return Contribution([section])


def _measures(measured: NetworkMeasures) -> Table:
    network, hops = measured.network, measured.hops
    rows = [
        ["nodes", str(network.nodes)],
        ["switches", str(network.switches)],
        ["links", str(int(network.parallel.sum()))],
        ["hops, at most", str(hops.diameter)],
        *([["hops, on average", f"{hops.average:.3g}"]] if hops.average is not None else []),
        ["bisection width", _between(measured.width, "links", 1.0)],
    ]
    if measured.bandwidth is not None:
        rows.append(["bisection bandwidth", _between(measured.bandwidth, "Gbit/s", 1e9)])
    return Table("Measures", ["", "value"], rows)


def _between(bisection: Bisection, unit: str, scale: float) -> str:
    high = f"{bisection.high / scale:,.10g} {unit}"
    return high if bisection.is_exact else f"{bisection.low / scale:,.10g} (proven) to {high} (found)"


def _ports(measured: NetworkMeasures) -> Table:
    rows = [
        [switch.kind, str(switch.switches), str(switch.radix), str(switch.used), str(switch.free)]
        for switch in ports(measured.network)
    ]
    return Table("Ports", ["switch", "number", "ports of one", "used", "free"], rows)
