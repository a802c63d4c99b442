"""Distances between nodes: links on a shortest path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from hockney.machine.topologies.base import Network

_BLOCK = 2**24
"""Distances held at once."""


@dataclass(frozen=True)
class Hops:
    """Of all unordered pairs of different nodes, by the links between the two on a shortest path."""

    pairs: dict[int, int]
    """Hops → how many pairs have them."""

    @property
    def diameter(self) -> int:
        """The longest shortest path; 0 for a single node."""
        return max(self.pairs, default=0)

    @property
    def average(self) -> float | None:
        """Over the pairs; None where there is none."""
        count = sum(self.pairs.values())
        return sum(hops * pairs for hops, pairs in self.pairs.items()) / count if count else None


def hops(network: Network, allocation: NDArray[np.int64]) -> Hops:
    """Distances among the nodes `allocation`. Paths may lead through nodes and switches outside of it.

    Nodes that hang on one switch alone are counted at their switch; in a torus or hypercube all nodes look alike,
    so that of the whole machine one is enough.
    """
    graph = network.matrix(np.ones(len(network.ends)))
    degree = np.diff(graph.indptr)
    hangs = (degree[allocation] == 1) & (network.nodes > 1)
    at, away = allocation.copy(), np.zeros(len(allocation), np.int64)
    neighbour = graph.indices[graph.indptr[allocation[hangs]]]
    # Two nodes with one link between them hang on each other.
    is_switch = neighbour >= network.nodes
    at[np.flatnonzero(hangs)[is_switch]] = neighbour[is_switch]
    away[np.flatnonzero(hangs)[is_switch]] = 1
    places, index = np.unique(np.stack([at, away], -1), axis=0, return_inverse=True)
    count = np.bincount(index.ravel()).astype(np.int64)
    uniform = network.kind in ("torus", "hypercube") and len(allocation) == network.nodes
    sources = np.arange(1 if uniform else len(places))
    total: NDArray[np.int64] = np.zeros(0, np.int64)
    step = max(1, _BLOCK // network.vertices)
    for start in range(0, len(sources), step):
        chosen = sources[start : start + step]
        found = dijkstra(graph, directed=False, indices=places[chosen, 0], unweighted=True)[:, places[:, 0]]
        apart = found.astype(np.int64) + places[chosen, 1][:, None] + places[:, 1]
        weight = count[chosen][:, None] * count
        # A node has no way to itself; others of its switch are two links away.
        weight[np.arange(len(chosen)), chosen] -= count[chosen]
        binned = np.bincount(apart.ravel(), weight.ravel()).astype(np.int64)
        total = np.pad(total, (0, max(0, len(binned) - len(total))))
        total[: len(binned)] += binned
    ordered = total * network.nodes if uniform else total
    return Hops({hop: int(pairs) // 2 for hop, pairs in enumerate(ordered) if pairs})
