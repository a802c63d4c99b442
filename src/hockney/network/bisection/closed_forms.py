"""Minimum bisections that are known: of whole tori, hypercubes and complete graphs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hockney.network.topologies.base import Network


def known_bisection(network: Network, weight: NDArray[np.float64]) -> tuple[float, NDArray[np.bool_]] | None:
    """The least cut of all nodes by `weight` (links,) and its sides (vertices,); None where no theorem says it.

    Hypercube of n dimensions: 2ⁿ⁻¹ links. Complete graph of n nodes: ⌊n/2⌋·⌈n/2⌉ pairs, whatever the split; also
    an edge list in which every two nodes have the same links. Torus of
    extents k₁ ≥ k₂ ≥ … : 2·Σᵢ₌₁..α Πⱼ₌ᵢ₊₁..d kⱼ, where k_α is the first even extent, or the last one if all are
    odd (Aroca, Fernández Anta, "Bisection (band)width of product networks with application to data centers",
    IEEE TPDS 25(3), 2014). For a torus of the same even k everywhere that is 2kⁿ⁻¹ (Dally 1990). Extents of 2,
    which have single links here, are covered by it only where a larger even extent comes first.
    """
    half = network.nodes // 2
    in_halves = np.arange(network.nodes) >= half
    pairs = network.nodes * (network.nodes - 1)
    if not network.switches and 2 * len(network.ends) >= pairs:
        between = network.matrix(weight)
        if between.nnz == pairs and (between.data == between.data[0]).all():
            return half * (network.nodes - half) * float(between.data[0]), in_halves
    if len(np.unique(weight)) > 1:
        return None
    if network.kind == "hypercube":
        return half * float(weight[0]), in_halves
    if network.kind != "torus":
        return None
    extents = sorted((extent for extent in network.shape if extent > 1), reverse=True)
    if not extents:
        return None
    if extents[0] == 2:
        factor, until = 1, 1
    else:
        until = next((i + 1 for i, extent in enumerate(extents) if extent % 2 == 0), len(extents))
        if 2 in extents and until > 1:
            return None
        factor = 2
    links = factor * sum(math.prod(extents[i:]) for i in range(1, until + 1))
    # Slabs of the longest extents, the last one filled in the same way: the first half in their order.
    axes = np.argsort([-extent for extent in network.shape], kind="stable")
    place = np.arange(network.nodes).reshape(network.shape).transpose(axes).ravel()
    side = np.zeros(network.nodes, bool)
    side[place[network.nodes // 2 :]] = True
    return links * float(weight[0]), side
