"""The measures of a network and of an allocation of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from hockney.network.bisection.bisection import Bisection, bisection
from hockney.network.bisection.hops import PairsByHops, hops
from hockney.network.bisection.ports import Ports, ports
from hockney.network.topologies.base import Network
from hockney.units import in_ranges


@dataclass(frozen=True)
class AllocatedNodes:
    """Nodes of the network that are used."""

    nodes: int
    list: str


class NetworkAnswer(BaseModel, frozen=True, extra="allow"):
    """A topology; further keys are those of its kind: shape, taper, groups …"""

    topology: str
    spec: str
    nodes: int
    switches: int
    links: int
    ports: list[Ports]
    allocation: AllocatedNodes
    diameter: int
    hops: PairsByHops
    bisection_links: int | None
    bisection_links_low: int
    bisection_links_high: int
    bisection_links_exact: bool
    bisection_bandwidth_bit_per_s: float | None
    bisection_bandwidth_bit_per_s_low: float | None
    bisection_bandwidth_bit_per_s_high: float | None
    bisection_bandwidth_bit_per_s_exact: bool | None
    bisection_method: str
    bisection_halves: list[str]
    figure: str | None


@dataclass(frozen=True)
class NetworkMeasures:
    """Measures of the nodes `allocation` in `network`."""

    network: Network
    allocation: NDArray[np.int64]
    hops: PairsByHops
    width: Bisection
    """The bisection that counts links."""
    bandwidth: Bisection | None
    """The bisection in bit/s in one direction; None where the rate of a link is unknown."""

    @property
    def is_whole(self) -> bool:
        """Whether all nodes are allocated."""
        return len(self.allocation) == self.network.nodes

    def answer(self, figure: Path | None = None) -> NetworkAnswer:
        """The measures as `hockney network` prints them."""
        network, width, bandwidth = self.network, self.width, self.bandwidth
        return NetworkAnswer(
            **network.attributes,
            topology=network.kind,
            spec=network.spec,
            nodes=network.nodes,
            switches=network.switches,
            links=int(network.parallel.sum()),
            ports=ports(network),
            allocation=AllocatedNodes(len(self.allocation), in_ranges(self.allocation.tolist())),
            diameter=self.hops.diameter,
            hops=self.hops,
            bisection_links=int(width.high) if width.is_exact else None,
            bisection_links_low=int(width.low),
            bisection_links_high=int(width.high),
            bisection_links_exact=width.is_exact,
            bisection_bandwidth_bit_per_s=bandwidth.high if bandwidth and bandwidth.is_exact else None,
            bisection_bandwidth_bit_per_s_low=bandwidth.low if bandwidth else None,
            bisection_bandwidth_bit_per_s_high=bandwidth.high if bandwidth else None,
            bisection_bandwidth_bit_per_s_exact=bandwidth.is_exact if bandwidth else None,
            bisection_method=width.method,
            bisection_halves=[in_ranges(self.allocation[half].tolist()) for half in self._halves()],
            figure=str(figure) if figure else None,
        )

    def _halves(self) -> list[NDArray[np.bool_]]:
        # The half that has the first node comes first.
        first = self.width.side[self.allocation] == self.width.side[self.allocation[0]]
        return [first, ~first]


def measure(network: Network, allocation: NDArray[np.int64]) -> NetworkMeasures:
    """Hops and bisection of the nodes `allocation`."""
    parallel = network.parallel.astype(float)
    width = bisection(network, allocation, parallel)
    rates = np.unique(network.bandwidth_bit_per_s)
    bandwidth = None
    if len(rates) == 1 and np.isfinite(rates[0]):
        rate = float(rates[0])
        bandwidth = Bisection(width.low * rate, width.high * rate, width.side, width.method)
    elif np.isfinite(rates).all() and len(rates):
        weight = parallel * network.bandwidth_bit_per_s
        bandwidth = bisection(network, allocation, weight)
    return NetworkMeasures(network, allocation, hops(network, allocation), width, bandwidth)
