"""What no bisection can be below: from the graph's spectrum, and from traffic that the links carry."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh

from hockney.network.bisection.reduced import Reduced

MOST_VERTICES = 2000
"""Whose spectrum is taken: the factors of larger graphs fill up."""
MOST_WORK = 2**28
"""Sources × links of traffic that is routed: some seconds."""
_BLOCK = 2**22
"""Numbers in one array of it."""


def lower_bound(graph: Reduced) -> tuple[float, NDArray[np.float64] | None]:
    """A proven lower bound of the cut, and the order (v,) of the vertices along the second eigenvector.

    Both arguments say that sides with k and n − k nodes cut at least c·k·(n − k): c = λ₂/n with the Laplacian
    against the nodes that each vertex has (Fiedler 1973), and c = 1/(the load of the fullest link) when every two
    nodes exchange one unit. Nodes that are cut off leave sides that are not balanced, each for its price.
    """
    if np.count_nonzero(graph.supply) < 2:
        return _smallest(graph), None
    shares, order = [0.0], None
    if graph.vertices <= MOST_VERTICES:
        second, order = _spectrum(graph)
        shares.append(second / graph.allocated)
    if np.count_nonzero(graph.supply) * graph.weight.nnz <= MOST_WORK:
        shares.append(1 / _fullest(graph))
    # The graph is connected: something is cut.
    return max(_least(graph, max(shares)), _smallest(graph)), order


def _smallest(graph: Reduced) -> float:
    """The least price of a link, of one that cuts a node off too."""
    return float(np.concatenate([graph.weight.data, graph.price[graph.held > 0]]).min())


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
    sources = np.flatnonzero(graph.supply)
    step = max(1, _BLOCK // max(graph.weight.nnz, 1))
    load = sum(
        (_load(graph, sources[start : start + step]) for start in range(0, len(sources), step)),
        np.zeros(graph.weight.nnz),
    )
    return float(load.max())


def _load(graph: Reduced, sources: NDArray[np.int64]) -> NDArray[np.float64]:
    """(entries of the matrix,): units by capacity that `sources` send over each link, away from them.

    They divide over shortest paths as Brandes (2001) counts them, parallel links being paths of their own. Of a
    pair of nodes one unit goes either way, each in an entry of its own, so an entry has one for each pair.
    """
    capacity, supply = graph.weight, graph.supply.astype(float)
    # (v, sources): how many shortest paths lead to the vertex, and how many links they have.
    paths = np.zeros((graph.vertices, len(sources)))
    distance = np.full(paths.shape, -1)
    front = np.zeros(paths.shape)
    front[sources, np.arange(len(sources))] = 1
    hops = 0
    while front.any():
        distance[front > 0] = hops
        paths += front
        front = np.where(distance < 0, capacity @ front, 0.0)
        hops += 1
    entries = capacity.tocoo()
    load = np.zeros(capacity.nnz)
    passing = supply[:, None] * supply[sources]
    for hop in range(hops - 1, 0, -1):
        here = distance == hop
        share = np.divide(passing, paths, out=np.zeros(paths.shape), where=here)
        inner = np.where(distance == hop - 1, paths, 0.0)
        passing += inner * (capacity @ share)
        load += np.einsum("is,is->i", inner[entries.row], share[entries.col])
    return load
