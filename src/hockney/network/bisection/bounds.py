"""What no bisection can be below, from the graph's spectrum, and the order in which the spectrum splits it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hockney.network.bisection.reduced import Reduced

MOST_VERTICES = 1000
"""Whose spectrum is taken: a second."""


def lower_bound(graph: Reduced) -> tuple[float, NDArray[np.float64] | None]:
    """A proven lower bound of the cut, and the order (v,) of the vertices along the second eigenvector.

    Sides with k and n − k nodes cut at least λ₂/n·k·(n − k), with the Laplacian against the nodes of each vertex
    (Fiedler 1973). Nodes that are cut off leave sides that are not balanced, each for its price. The graph is
    connected, so that its cheapest link is a bound, too.
    """
    smallest = float(np.concatenate([graph.weight.data, graph.price[graph.held > 0]]).min())
    if np.count_nonzero(graph.supply) < 2 or graph.vertices > MOST_VERTICES:
        return smallest, None
    second, order = _spectrum(graph)
    return max(_least(graph, second / graph.allocated), smallest), order


def _least(graph: Reduced, share: float) -> float:
    """min over the nodes d that are cut off of price·d + share·(h − d)·(n − h + d)."""
    half = graph.allocated // 2
    able = int(graph.held.sum())
    price = float(graph.price[graph.held > 0].min()) if able else math.inf
    # At both ends, because it is concave in d.
    ends = [share * half * (graph.allocated - half)]
    if able:
        off = min(able, half)
        ends.append(price * off + share * (half - off) * (graph.allocated - half + off))
    return min(ends)


def _spectrum(graph: Reduced) -> tuple[float, NDArray[np.float64]]:
    """λ₂ of L z = λ D z and z, with D the nodes of each vertex; vertices without any settle as they like."""
    supply = graph.supply.astype(float)
    laplacian = (sparse.diags_array(np.asarray(graph.weight.sum(axis=1)).ravel()) - graph.weight).toarray()
    has, free = np.flatnonzero(supply), np.flatnonzero(supply == 0)
    settled = np.linalg.solve(laplacian[np.ix_(free, free)], laplacian[np.ix_(free, has)])
    kept = laplacian[np.ix_(has, has)] - laplacian[np.ix_(has, free)] @ settled
    root = np.sqrt(supply[has])
    values, vectors = np.linalg.eigh((kept + kept.T) / 2 / np.outer(root, root))
    order = np.empty(len(supply))
    order[has] = vectors[:, 1] / root
    order[free] = -settled @ order[has]
    return max(0.0, float(values[1]) * (1 - 1e-9)), order
