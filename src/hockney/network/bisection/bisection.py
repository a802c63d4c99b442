"""The bisection of a network or of an allocation: the least cut that leaves half of the nodes on either side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hockney.errors import RequestError
from hockney.network.bisection.bounds import lower_bound
from hockney.network.bisection.closed_forms import known_bisection
from hockney.network.bisection.reduced import reduce
from hockney.network.bisection.tree import is_tree, split_tree
from hockney.network.topologies.base import Network

MOST_VERTICES = 2**15
"""The largest graph to cut where it is no tree and no theorem knows it: larger ones take minutes."""


@dataclass(frozen=True)
class Bisection:
    """The least sum of weights that a balanced split cuts lies in [low, high]; `side` cuts `high`.

    A split is balanced if ⌊n/2⌋ of the n allocated nodes are on one side; every other vertex stands where it
    costs least. The links of nodes may be cut too.
    """

    low: float
    high: float
    side: NDArray[np.bool_]
    """(vertices,)"""
    method: str
    """The proof: `tree`, `closed form` or `bounds meet`; `bounds` where there is none."""

    @property
    def is_exact(self) -> bool:
        """Whether the least cut is known."""
        return self.low == self.high


def cut(network: Network, side: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """The sum of `weight` (links,) over the bundles between the two sides (vertices,)."""
    a, b = network.ends.T
    return float(weight[side[a] != side[b]].sum())


def bisection(network: Network, allocation: NDArray[np.int64], weight: NDArray[np.float64]) -> Bisection:
    """The least cut of `allocation` by `weight` (links,): parallel links for the width, rates for bandwidth.

    The cut is exact for trees (also fat trees: their equal switches act as one), whole tori and hypercubes, and
    complete graphs. Elsewhere `low` is proven, and `high` is the least of few cuts: between the first nodes and
    the last ones, of a torus along each axis, and along the second eigenvector of the graph. RequestError where
    the graph is too large to cut.
    """
    if len(allocation) < 2:
        return Bisection(0.0, 0.0, np.zeros(network.vertices, bool), "tree")
    known = known_bisection(network, weight) if len(allocation) == network.nodes else None
    if known is not None:
        least, side = known
        return Bisection(least, cut(network, side, weight), side, "closed form")
    graph = reduce(network, allocation, weight)
    if is_tree(graph):
        _, vertex_side, off = split_tree(graph)
        side = graph.sides(vertex_side, off)
        value = cut(network, side, weight)
        return Bisection(value, value, side, "tree")
    if graph.vertices > MOST_VERTICES:
        raise RequestError(
            f"the bisection of these nodes is no theorem's, and {graph.vertices} vertices are too many to cut",
            f"ask about all nodes, or describe a network of up to {MOST_VERTICES} vertices",
        )
    low, order = lower_bound(graph)
    # As numbered, and of a torus along each of its axes.
    orders = [np.arange(len(allocation))]
    if network.shape:
        orders += [np.argsort(along, kind="stable") for along in np.unravel_index(allocation, network.shape)]
    if order is not None:
        orders.append(np.argsort(order[graph.vertex_of[allocation]], kind="stable"))
    sides = [_settled(network, allocation[along], weight) for along in orders]
    side = min(sides, key=lambda split: cut(network, split, weight))
    high = cut(network, side, weight)
    # Weights are whole numbers of this unit, and so is every cut.
    unit = float(np.gcd.reduce(weight.astype(np.int64))) if (weight == np.floor(weight)).all() else 0.0
    low = min(high, _up(low, unit))
    return Bisection(low, high, side, "bounds meet" if low == high else "bounds")


def _settled(network: Network, nodes: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(vertices,): the first half of `nodes` on one side, the rest on the other, all else where it costs least.

    That is the least cut between the two, by the maximum flow, which takes whole capacities of 32 bits.
    """
    scale = 2**30 / weight.sum()
    capacity = network.matrix(np.floor(weight * (math.floor(scale) if scale > 1 else scale))).tocoo()
    begin, end, half = network.vertices, network.vertices + 1, len(nodes) // 2
    rows = np.concatenate([capacity.row, np.full(half, begin), nodes[half:]])
    columns = np.concatenate([capacity.col, nodes[:half], np.full(len(nodes) - half, end)])
    values = np.concatenate([capacity.data, np.full(len(nodes), 2**30)]).astype(np.int32)
    graph = sparse.csr_array((values, (rows, columns)), shape=(end + 1, end + 1))
    left = sparse.csr_array(graph - sparse.csgraph.maximum_flow(graph, begin, end).flow)
    left.eliminate_zeros()
    side = np.ones(network.vertices + 2, bool)
    side[sparse.csgraph.breadth_first_order(left, begin, return_predecessors=False)] = False
    return side[: network.vertices]


def _up(low: float, unit: float) -> float:
    """The least possible cut that is not below `low`, which rounding may have lifted a little."""
    return math.ceil(low * (1 - 1e-7) / unit) * unit if unit else low * (1 - 1e-7)
