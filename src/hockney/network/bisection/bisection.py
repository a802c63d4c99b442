"""The bisection of a network or of an allocation: the least cut that leaves half of the nodes on either side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.bisection.bounds import lower_bound
from hockney.network.bisection.closed_forms import known_bisection
from hockney.network.bisection.optimal import split_optimally
from hockney.network.bisection.reduced import Reduced, reduce
from hockney.network.bisection.search import cut_off, edge_cut, orders, search
from hockney.network.bisection.tree import is_tree, split_tree
from hockney.network.topologies.base import Network

STARTS = 8
"""Local searches from random places, as long as time is left."""
MOST_VERTICES = 2**15
"""The largest graph to search where it is no tree and no theorem knows it: larger ones take minutes."""


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
    """The proof: `tree`, `closed form`, `integer programme` or `bounds meet`; `bounds` where there is none."""

    @property
    def is_exact(self) -> bool:
        """Whether the least cut is known."""
        return self.low == self.high


def cut(network: Network, side: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """The sum of `weight` (links,) over the bundles between the two sides (vertices,)."""
    a, b = network.ends.T
    return float(weight[side[a] != side[b]].sum())


def bisection(
    network: Network,
    allocation: NDArray[np.int64],
    weight: NDArray[np.float64],
    *,
    time_limit_s: float = 20.0,
    seed: int = 0,
) -> Bisection:
    """The least cut of `allocation` by `weight` (links,): parallel links for the width, rates for bandwidth.

    The cut is exact for trees (also fat trees: their equal switches act as one), whole tori and hypercubes.
    Elsewhere an integer programme proves the best of several local searches. Each has `time_limit_s`; where that
    is too short, `low` is proven and `high` is the best cut found. RequestError where the graph is too large to
    search.
    """
    if len(allocation) < 2:
        return Bisection(0.0, 0.0, np.zeros(network.vertices, bool), "tree")
    uniform = np.unique(weight)
    known = known_bisection(network) if len(allocation) == network.nodes and len(uniform) == 1 else None
    if known is not None:
        links, side = known
        return Bisection(links * float(uniform[0]), cut(network, side, weight), side, "closed form")
    graph = reduce(network, allocation, weight)
    if is_tree(graph):
        _, vertex_side, off = split_tree(graph)
        side = graph.sides(vertex_side, off)
        value = cut(network, side, weight)
        return Bisection(value, value, side, "tree")
    if graph.vertices > MOST_VERTICES:
        raise RequestError(
            f"the bisection of these nodes is no theorem's, and {graph.vertices} vertices are too many to search",
            f"ask about all nodes, or describe a network of up to {MOST_VERTICES} vertices",
        )
    # Weights are whole numbers of this unit, and so is every cut.
    unit = float(np.gcd.reduce(weight.astype(np.int64))) if (weight == np.floor(weight)).all() else 0.0
    low, order = lower_bound(graph)
    starts = orders(graph, seed, STARTS)
    least, vertex_side = search(graph, starts if order is None else [order, *starts], time_limit_s)
    method = "bounds meet"
    if _up(low, unit) < least:
        proven, better = split_optimally(graph, time_limit_s, least)
        low = max(low, proven)
        if better is not None and (value := _value(graph, better)) < least:
            least, vertex_side = value, better
        method = "integer programme" if _up(low, unit) >= least else "bounds"
    balanced = cut_off(graph, vertex_side)
    assert balanced is not None
    side = graph.sides(vertex_side, balanced[1])
    high = cut(network, side, weight)
    return Bisection(min(high, _up(low, unit)), high, side, method)


def _value(graph: Reduced, side: NDArray[np.bool_]) -> float:
    balanced = cut_off(graph, side)
    return math.inf if balanced is None else edge_cut(graph, side) + balanced[0]


def _up(low: float, unit: float) -> float:
    """The least possible cut that is not below `low`, which rounding may have lifted a little."""
    return math.ceil(low * (1 - 1e-7) / unit) * unit if unit else low * (1 - 1e-7)
