"""The grid of ranks and the torus of nodes both in the order of Hilbert's curve."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.curves import order
from hockney.network.traffic.placements.base import Place, Placement, Situation, placements


def hilbert(of: Situation) -> Place:
    """Nodes that make no torus are taken in their own order."""
    place = np.zeros(of.pattern.ranks, np.int64)
    nodes = order(of.shape, "hilbert") if of.shape else np.arange(of.nodes)
    place[order(of.pattern.grid, "hilbert")] = np.repeat(nodes, of.ppn)
    return place


placements.register("hilbert")(Placement("ranks and nodes along Hilbert's curve", hilbert))
