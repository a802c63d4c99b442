"""One node after another filled with ranks: what launchers do when nobody says anything."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.placements.base import Place, Placement, Situation, placements


def linear(of: Situation) -> Place:
    """Rank r on node ⌊r / ppn⌋."""
    return np.arange(of.pattern.ranks) // of.ppn


placements.register("linear")(Placement("rank r on node r // ppn: ranks by rows, nodes in order", linear))
