"""The measures of a network and of an allocation of its nodes, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.network.bisection.bisection import Bisection, bisection
from hockney.network.bisection.hops import Hops, hops
from hockney.network.bisection.ports import ports
from hockney.network.topologies.base import Network


@dataclass(frozen=True)
class NetworkMeasures:
    """Measures of the nodes `allocation` in `network`."""

    network: Network
    allocation: NDArray[np.int64]
    hops: Hops
    width: Bisection
    """The bisection that counts links."""
    bandwidth: Bisection | None
    """The bisection in bit/s in one direction; None where the rate of a link is unknown."""

    @property
    def is_whole(self) -> bool:
        """Whether all nodes are allocated."""
        return len(self.allocation) == self.network.nodes

    def as_data(self) -> dict[str, Any]:
        """The measures as JSON (docs/reference/network.md)."""
        network = self.network
        about = network.attributes
        return {
            "topology": network.kind,
            "spec": network.spec,
            "nodes": network.nodes,
            "switches": network.switches,
            "links": int(network.parallel.sum()),
            **about,
            "ports": [asdict(kind) for kind in ports(network)],
            "allocation": {"nodes": len(self.allocation), "list": in_words(self.allocation)},
            "diameter": self.hops.diameter,
            "hops": {
                "average": self.hops.average,
                "pairs": {str(hop): pairs for hop, pairs in self.hops.pairs.items()},
            },
            **_of("bisection_links", self.width, whole=True),
            **_of("bisection_bandwidth_bit_per_s", self.bandwidth, whole=False),
            "bisection_method": self.width.method,
            "bisection_halves": [in_words(self.allocation[half]) for half in self._halves()],
        }

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


def _of(name: str, split: Bisection | None, *, whole: bool) -> dict[str, Any]:
    if split is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None, f"{name}_exact": None}
    low, high = (int(split.low), int(split.high)) if whole else (split.low, split.high)
    exact = split.is_exact
    return {name: high if exact else None, f"{name}_low": low, f"{name}_high": high, f"{name}_exact": exact}


def in_words(nodes: NDArray[np.int64]) -> str:
    """Sorted numbers as ranges: `0-15,32`."""
    if not len(nodes):
        return ""
    runs = np.split(nodes, np.flatnonzero(np.diff(nodes) > 1) + 1)
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
