"""Every rank sends to every other."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.base import Demand, check_pairs
from hockney.network.traffic.patterns.base import Pattern, PatternKind, Volumes, patterns, rank_count


def alltoall(text: str, volumes: Volumes) -> Pattern:
    """One message for each pair of ranks in each direction."""
    ranks = rank_count(text)
    check_pairs(ranks**2, f"an alltoall of {ranks}")
    source, target = np.divmod(np.arange(ranks**2), ranks)
    size = 1.0 if volumes.size_B is None else volumes.size_B
    unit = "messages" if volumes.size_B is None else "B"
    return Pattern(f"alltoall:{text}", (ranks,), Demand.of(source, target, size), unit)


patterns.register("alltoall")(PatternKind("every rank sends to every other", "alltoall:64", alltoall))
