"""The grid of ranks and the torus of nodes both in the order of Morton's curve."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.curves import order
from hockney.network.traffic.placements.base import Place, Placement, Situation, placements


def morton(of: Situation) -> Place:
    """Nodes that make no torus are taken in their own order."""
    place = np.zeros(of.pattern.ranks, np.int64)
    nodes = order(of.shape, "morton") if of.shape else np.arange(of.nodes)
    place[order(of.pattern.grid, "morton")] = np.repeat(nodes, of.ppn)
    return place


placements.register("morton")(Placement("ranks and nodes along Morton's curve", morton))
