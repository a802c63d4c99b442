"""Ranks dealt to the nodes in turn."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.placements.base import (
    NotApplicableError,
    Place,
    Placement,
    Situation,
    placements,
)


def cyclic(of: Situation) -> Place:
    """Rank r on node r mod n."""
    if of.ppn == 1:
        raise NotApplicableError("with one rank for each node it is the linear one")
    return np.arange(of.pattern.ranks) % of.nodes


placements.register("cyclic")(Placement("rank r on node r mod n", cyclic))
