"""Ranks on nodes at random."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.placements.base import Place, Placement, Situation, placements


def random(of: Situation) -> Place:
    """Every map with the same probability."""
    return np.random.default_rng(of.seed).permutation(of.pattern.ranks) // of.ppn


placements.register("random")(Placement("at random; the median of several", random, is_random=True))
