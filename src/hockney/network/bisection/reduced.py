"""The graph that is left to split once everything whose side follows from its neighbour is folded away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hockney.network.topologies.base import Network


@dataclass(frozen=True)
class Reduced:
    """Vertices to split into two sides, with the allocated nodes that they are or that hang on them.

    A node that hangs on one vertex by links of its own is on that vertex's side, or on the other for `price`.
    """

    weight: sparse.csr_array
    """(v, v), symmetric, no diagonal: what cutting two vertices apart costs."""
    own: NDArray[np.int64]
    """(v,): 1 where the vertex is an allocated node itself."""
    held: NDArray[np.int64]
    """(v,): allocated nodes that hang on it."""
    price: NDArray[np.float64]
    """(v,): what cutting one of them off costs; 0 where there is none."""
    vertex_of: NDArray[np.int64]
    """(network's vertices,): the vertex that each was folded into."""
    hanging: NDArray[np.bool_]
    """(network's vertices,): it is an allocated node that hangs on its vertex."""

    @property
    def vertices(self) -> int:
        """How many are left."""
        return len(self.own)

    @property
    def supply(self) -> NDArray[np.int64]:
        """(v,): allocated nodes that go with the vertex."""
        return self.own + self.held

    @property
    def allocated(self) -> int:
        """Nodes to be split."""
        return int(self.supply.sum())

    def sides(self, side: NDArray[np.bool_], cut_off: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(network's vertices,): all sides, where `cut_off` (v,) of the nodes held are not on their vertex's."""
        whole = side[self.vertex_of]
        nodes = np.flatnonzero(self.hanging)
        nodes = nodes[np.argsort(self.vertex_of[nodes], kind="stable")]
        holder = self.vertex_of[nodes]
        rank = np.arange(len(nodes)) - np.searchsorted(holder, holder)
        # The last ones in leaf order, so that the first stay together.
        off = rank >= (self.held - cut_off)[holder]
        whole[nodes[off]] ^= True
        return whole


def reduce(network: Network, allocation: NDArray[np.int64], weight: NDArray[np.float64]) -> Reduced:
    """Fold `network` for a split of the nodes `allocation`; `weight` (links,) is what cutting a bundle costs."""
    same = np.arange(network.vertices) if network.alike is None else network.alike
    _, group = np.unique(same, return_inverse=True)
    joined = _joined(network.matrix(weight), group)
    is_allocated = np.zeros(network.vertices, bool)
    is_allocated[allocation] = True
    in_group = np.bincount(group, is_allocated).astype(np.int64)
    joined, twin = _without_twins(joined, in_group)
    group = twin[group]
    in_group = np.bincount(group, is_allocated).astype(np.int64)

    degree = np.diff(joined.indptr)
    leaf = np.flatnonzero(degree == 1)
    holder = joined.indices[joined.indptr[leaf]]
    price = joined.data[joined.indptr[leaf]]
    keep = degree[holder] > 1
    leaf, holder, price = leaf[keep], holder[keep], price[keep]
    # Nodes of one vertex that differ in their links cannot be exchanged: those unlike the first stay vertices.
    full = in_group[leaf] > 0
    first: NDArray[np.float64] = np.zeros(len(in_group))
    first[holder[full][::-1]] = price[full][::-1]
    fold = ~full | (price == first[holder])
    leaf, holder, full = leaf[fold], holder[fold], full[fold]

    to = np.arange(len(in_group))
    to[leaf] = holder
    kept, to = np.unique(to, return_inverse=True)
    held = np.bincount(to[leaf[full]], minlength=len(kept)).astype(np.int64)
    folded = np.zeros(len(in_group), bool)
    folded[leaf] = True
    return Reduced(
        weight=_joined(joined, to),
        own=in_group[kept],
        held=held,
        price=np.where(held > 0, first[kept], 0.0),
        vertex_of=to[group],
        hanging=is_allocated & folded[group],
    )


def _without_twins(
    graph: sparse.csr_array, nodes: NDArray[np.int64]
) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """Vertices without `nodes` (v,) that have the same neighbours by the same weights, as one; which each became.

    Where all others stand decides for each of them alone, and in the same way: like the spines of a fat tree.
    """
    total = np.arange(len(nodes))
    while True:
        graph.sort_indices()
        first: dict[tuple[bytes, bytes], int] = {}
        to = np.arange(len(nodes))
        for vertex in np.flatnonzero(nodes == 0):
            row = slice(graph.indptr[vertex], graph.indptr[vertex + 1])
            key = graph.indices[row].tobytes(), graph.data[row].tobytes()
            to[vertex] = first.setdefault(key, int(vertex))
        kept, to = np.unique(to, return_inverse=True)
        if len(kept) == len(nodes):
            return graph, total
        graph, nodes, total = _joined(graph, to), nodes[kept], to[total]


def _joined(matrix: sparse.csr_array, group: NDArray[np.int64]) -> sparse.csr_array:
    """The graph of the groups: sums of what joins two of them, without what stays inside."""
    rows, columns, data = _triplets(matrix)
    a, b = group[rows], group[columns]
    apart = a != b
    size = int(group.max()) + 1
    graph = sparse.csr_array((data[apart], (a[apart], b[apart])), shape=(size, size))
    graph.sum_duplicates()
    return graph


def _triplets(matrix: sparse.csr_array) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    triplets = matrix.tocoo()
    return triplets.row, triplets.col, triplets.data
