"""The first half with the second."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def bisection(among: Allocated, _seed: int) -> Pairs:
    """Node i of n with node i + ⌊n/2⌋, both ways; of an odd number the last has no partner."""
    half = len(among.nodes) // 2
    low, high = among.nodes[:half], among.nodes[half : 2 * half]
    return np.concatenate([low, high]), np.concatenate([high, low])


traffics.register("bisection")(Traffic("node i with node i + n/2, both ways", bisection))
