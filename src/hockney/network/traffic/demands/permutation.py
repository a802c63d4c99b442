"""Everybody sends to one other, drawn at random."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def permutation(among: Allocated, seed: int) -> Pairs:
    """A random permutation without regard to who stays with itself: such a node sends nothing."""
    return among.nodes, np.random.default_rng(seed).permutation(among.nodes)


traffics.register("permutation")(Traffic("a random permutation", permutation, is_random=True))
