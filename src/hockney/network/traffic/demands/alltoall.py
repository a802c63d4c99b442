"""Everybody sends to everybody else."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.base import check_pairs
from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def alltoall(among: Allocated, _seed: int) -> Pairs:
    """n·(n − 1) messages between n nodes."""
    count = len(among.nodes)
    check_pairs(count**2, f"an alltoall of {count} nodes")
    source, target = np.divmod(np.arange(count**2), count)
    apart = source != target
    return among.nodes[source[apart]], among.nodes[target[apart]]


traffics.register("alltoall")(Traffic("every node sends to every other", alltoall, is_pairing=False))
