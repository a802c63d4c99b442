"""A ring: every rank with the next and the last, the last rank with the first."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.base import Demand, check_pairs
from hockney.network.traffic.patterns.base import Pattern, PatternKind, Volumes, patterns, rank_count


def ring(text: str, volumes: Volumes) -> Pattern:
    """Both ways round, as in `hockney run ring`."""
    ranks = rank_count(text)
    check_pairs(2 * ranks, f"a ring of {ranks}")
    here = np.arange(ranks)
    there = (here + 1) % ranks
    size = 1.0 if volumes.size_B is None else volumes.size_B
    demand = Demand.of(np.concatenate([here, there]), np.concatenate([there, here]), size)
    return Pattern(f"ring:{text}", (ranks,), demand, "messages" if volumes.size_B is None else "B")


patterns.register("ring")(PatternKind("a ring of ranks, both ways round", "ring:64", ring))
