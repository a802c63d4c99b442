"""The section on the network between nodes: drawn, with its hops, ports and bisection."""

from __future__ import annotations

import numpy as np

from hockney.errors import RequestError
from hockney.network.bisection.bisection import Bisection
from hockney.network.bisection.measure import NetworkMeasures, measure
from hockney.network.bisection.ports import ports
from hockney.network.topologies.base import parse_spec
from hockney.report.networks import draw
from hockney.report.page import Section
from hockney.report.tables import Table

TIME_LIMIT_S = 5.0
"""For proving a bisection; without a proof two bounds are shown."""


def section(spec: str, told: list[str]) -> Section | None:
    """None without a topology; what is wrong with one (its file is gone) is told."""
    if not spec:
        return None
    try:
        network = parse_spec(spec)
    except RequestError as error:
        told.append(f"The topology {spec} is not drawn: {error.message}.")
        return None
    found = measure(network, np.arange(network.nodes), time_limit_s=TIME_LIMIT_S, seed=0)
    return Section(
        "topology",
        "Network",
        f"The network between the nodes as it was described: {spec}. Nothing of it was measured.",
        figures=[draw(found)],
        tables=[_measures(found), *([_ports(found)] if ports(network) else [])],
    )


def _measures(found: NetworkMeasures) -> Table:
    network, hops = found.network, found.hops
    rows = [
        ["nodes", str(network.nodes)],
        ["switches", str(network.switches)],
        ["links", str(int(network.parallel.sum()))],
        ["hops, at most", str(hops.diameter)],
        *([["hops, on average", f"{hops.average:.3g}"]] if hops.average is not None else []),
        ["bisection width", _between(found.width, "links", 1.0)],
    ]
    if found.bandwidth is not None:
        rows.append(["bisection bandwidth", _between(found.bandwidth, "Gbit/s", 1e9)])
    return Table("Measures", ["", "value"], rows)


def _between(found: Bisection, unit: str, scale: float) -> str:
    high = f"{found.high / scale:,.10g} {unit}"
    return high if found.is_exact else f"{found.low / scale:,.10g} (proven) to {high} (found)"


def _ports(found: NetworkMeasures) -> Table:
    rows = [
        [one.kind, str(one.switches), str(one.radix), str(one.used), str(one.free)]
        for one in ports(found.network)
    ]
    return Table("Ports", ["switch", "number", "ports of one", "used", "free"], rows)
