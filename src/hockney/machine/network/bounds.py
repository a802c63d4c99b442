"""What no bisection can be below: from the graph's spectrum, and from traffic that the links carry."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh

from hockney.machine.network.reduced import Reduced

MOST_CELLS = 2**24
"""Vertices × vertices whose traffic is routed."""


def lower_bound(graph: Reduced) -> tuple[float, NDArray[np.float64] | None]:
    """A proven lower bound of the cut, and the order (v,) of the vertices along the second eigenvector.

    Both arguments say that sides with k and n − k nodes cut at least c·k·(n − k): c = λ₂/n with the Laplacian
    against the nodes that each vertex has (Fiedler 1973), and c = 1/(the load of the fullest link) when every two
    nodes exchange one unit. Nodes that are cut off leave sides that are not balanced, each for its price.
    """
    if np.count_nonzero(graph.supply) < 2:
        return _least(graph, 0.0), None
    second, order = _spectrum(graph)
    shares = [second / graph.allocated]
    if graph.vertices**2 <= MOST_CELLS:
        shares.append(1 / _fullest(graph))
    return _least(graph, max(shares)), order


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
    """λ₂ of L z = λ D z, with D the nodes of each vertex; vertices without any settle as they like."""
    supply = graph.supply.astype(float)
    degree = np.asarray(graph.weight.sum(axis=1)).ravel()
    laplacian = (diags_array(degree) - graph.weight).tocsc()
    if graph.vertices <= 600:
        return _dense_spectrum(laplacian.toarray(), supply)
    start = np.random.default_rng(0).standard_normal(graph.vertices)
    values, vectors = eigsh(
        laplacian, k=2, M=diags_array(supply).tocsc(), sigma=-1e-2 * degree.mean(), which="LM", v0=start
    )
    second = int(np.argmax(values))
    residual = laplacian @ vectors[:, second] - values[second] * supply * vectors[:, second]
    # An eigenvalue lies within the residual of the computed one.
    slack = float(np.linalg.norm(residual)) / math.sqrt(supply[supply > 0].min())
    return max(0.0, float(values[second]) - slack), np.asarray(vectors[:, second])


def _dense_spectrum(
    laplacian: NDArray[np.float64], supply: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    has, free = np.flatnonzero(supply), np.flatnonzero(supply == 0)
    kept = laplacian[np.ix_(has, has)]
    if len(free):
        settled = np.linalg.solve(laplacian[np.ix_(free, free)], laplacian[np.ix_(free, has)])
        kept = kept - laplacian[np.ix_(has, free)] @ settled
    root = np.sqrt(supply[has])
    values, vectors = np.linalg.eigh((kept + kept.T) / 2 / np.outer(root, root))
    order = np.empty(len(supply))
    order[has] = vectors[:, 1] / root
    if len(free):
        order[free] = -settled @ order[has]
    return max(0.0, float(values[1]) * (1 - 1e-9)), order


def _fullest(graph: Reduced) -> float:
    """The largest load by capacity of a link when every two nodes exchange a unit over all shortest paths."""
    capacity = graph.weight
    supply = graph.supply.astype(float)
    size = graph.vertices
    sources = np.flatnonzero(supply)
    # (v, sources): how many shortest paths lead to the vertex, and how many links they have.
    paths = np.zeros((size, len(sources)))
    distance = np.full((size, len(sources)), -1)
    front = np.zeros((size, len(sources)))
    front[sources, np.arange(len(sources))] = 1
    fronts: list[NDArray[np.float64]] = []
    while front.any():
        distance[front > 0] = len(fronts)
        paths += front
        fronts.append(front)
        front = np.where(distance < 0, capacity @ front, 0.0)
    rows, columns = capacity.nonzero()
    load = np.zeros(len(rows))
    # Units that pass through or end at the vertex, from the farthest inwards (Brandes 2001).
    passing = supply[:, None] * supply[sources]
    for hop in range(len(fronts) - 1, 0, -1):
        here = distance == hop
        share = np.where(here, passing / np.where(here, paths, 1), 0.0)
        inner = np.where(distance == hop - 1, paths, 0.0)
        passing += inner * (capacity @ share)
        load += np.einsum("is,is->i", inner[rows], share[columns])
    # A row's entry carries capacity times this; by capacity it is this itself. Both directions of a pair add up.
    return float(load.max())
