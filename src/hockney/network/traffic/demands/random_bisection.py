"""Random halves paired, as effective bisection bandwidth has it (Hoefler, Schneider, Lumsdaine 2008)."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def random_bisection(among: Allocated, seed: int) -> Pairs:
    """The nodes shuffled, then the first half with the second, both ways."""
    half = len(among.nodes) // 2
    mixed = np.random.default_rng(seed).permutation(among.nodes)
    low, high = mixed[:half], mixed[half : 2 * half]
    return np.concatenate([low, high]), np.concatenate([high, low])


traffics.register("random_bisection")(
    Traffic("two random halves paired, both ways", random_bisection, is_random=True)
)
