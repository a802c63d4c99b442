"""Distances between nodes: links on a shortest path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import computed_field
from scipy import sparse

from hockney.errors import RequestError
from hockney.network.topologies.base import Network

_BLOCK = 2**24
"""How many distances are in memory at once."""


@dataclass(frozen=True)
class PairsByHops:
    """All unordered pairs of different nodes, by the number of links on a shortest path."""

    pairs: dict[int, int]
    """PairsByHops → how many pairs have them."""

    @property
    def diameter(self) -> int:
        """The longest shortest path; 0 for a single node."""
        return max(self.pairs, default=0)

    @computed_field
    @property
    def average(self) -> float | None:
        """The mean over the pairs; None where there is no pair."""
        count = sum(self.pairs.values())
        return sum(hops * pairs for hops, pairs in self.pairs.items()) / count if count else None


def hops(network: Network, allocation: NDArray[np.int64]) -> PairsByHops:
    """Distances among the nodes `allocation`; paths may lead through vertices outside of it.

    Nodes forward nothing in a network with switches, as in `hockney network traffic`: RequestError where two
    nodes have no other way. Every node is a router in a network without switches (torus, hypercube, edges between
    nodes).

    Nodes with links to one switch alone are counted at their switch. A distance in a torus or hypercube depends
    only on the difference of the two nodes.
    """
    graph = network.matrix(np.ones(len(network.ends)))
    if network.kind in ("torus", "hypercube"):
        return _by_difference(network, graph, allocation)
    # A vertex with one neighbour lies on no path between others, unless its neighbour has no other either.
    neighbour = graph.indices[graph.indptr[:-1]] if network.vertices > 1 else np.zeros(1, np.int64)
    degree = np.diff(graph.indptr)
    forwards = np.arange(network.vertices) >= (network.nodes if network.switches else 0)
    hangs = (degree == 1) & (degree[neighbour] > 1) & forwards[neighbour]
    at = np.where(hangs, neighbour, np.arange(network.vertices))[allocation]
    places, index = np.unique(np.stack([at, hangs[allocation]], -1), axis=0, return_inverse=True)
    count = np.bincount(index.ravel()).astype(np.int64)
    kept = np.flatnonzero(~hangs)
    inner, begin = _ways(graph[kept][:, kept], forwards[kept])
    place, away = np.searchsorted(kept, places[:, 0]), places[:, 1]
    total: NDArray[np.int64] = np.zeros(0, np.int64)
    step = max(1, _BLOCK // len(kept))
    for start in range(0, len(places), step):
        chosen = np.arange(start, min(start + step, len(places)))
        distance = sparse.csgraph.dijkstra(inner, indices=begin[place[chosen]], unweighted=True)[:, place]
        distance[np.arange(len(chosen)), chosen] = 0
        if (unreached := np.argwhere(np.isinf(distance))).size:
            a, b = (network.names[places[row, 0]] for row in (chosen[unreached[0, 0]], unreached[0, 1]))
            raise RequestError(
                f"there is no way from {a} to {b} but through nodes, and in a network with switches they pass "
                "nothing on",
                "declare those that do as `switch`",
            )
        apart = distance.astype(np.int64) + away[chosen][:, None] + away
        weight = count[chosen][:, None] * count
        # A node has no way to itself; others of its switch are two links away.
        weight[np.arange(len(chosen)), chosen] -= count[chosen]
        binned = np.bincount(apart.ravel(), weight.ravel()).astype(np.int64)
        total = np.pad(total, (0, max(0, len(binned) - len(total))))
        total[: len(binned)] += binned
    return _unordered(total)


def _ways(graph: sparse.csr_array, forwards: NDArray[np.bool_]) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """Directed links, and the vertex where the ways out of each vertex begin.

    A vertex that does not forward appears twice: its own ways begin at the second, and none leads on from the
    first.
    """
    begin = np.arange(len(forwards))
    begin[~forwards] = len(forwards) + np.arange(np.count_nonzero(~forwards))
    links = sparse.coo_array(graph)
    size = len(forwards) + np.count_nonzero(~forwards)
    return sparse.csr_array((links.data, (begin[links.row], links.col)), shape=(size, size)), begin


def _by_difference(network: Network, graph: sparse.csr_array, allocation: NDArray[np.int64]) -> PairsByHops:
    """How often each difference of two nodes occurs is the autocorrelation of the allocation."""
    shape = network.shape or (2,) * (network.nodes.bit_length() - 1)
    is_allocated = np.zeros(network.nodes)
    is_allocated[allocation] = 1
    spectrum = np.fft.fftn(is_allocated.reshape(shape))
    often = np.rint(np.fft.ifftn(np.abs(spectrum) ** 2).real).astype(np.int64).ravel()
    far = sparse.csgraph.dijkstra(graph, directed=False, indices=np.zeros(1, np.int64), unweighted=True)[0]
    often[0] = 0
    return _unordered(np.bincount(far.astype(np.int64), often).astype(np.int64))


def _unordered(ordered: NDArray[np.int64]) -> PairsByHops:
    return PairsByHops({hop: int(pairs) // 2 for hop, pairs in enumerate(ordered) if pairs})
