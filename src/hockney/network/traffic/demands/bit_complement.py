"""Everybody sends to the node whose number has all bits turned."""

from __future__ import annotations

from hockney.errors import RequestError
from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def bit_complement(among: Allocated, _seed: int) -> Pairs:
    """Node i of n = 2ᵐ with node n − 1 − i."""
    count = len(among.nodes)
    if count & (count - 1):
        raise RequestError(
            f"bit_complement needs a power of two of nodes, not {count}", "allocate one, or choose bisection"
        )
    return among.nodes, among.nodes[::-1]


traffics.register("bit_complement")(Traffic("node i with node n − 1 − i, n a power of two", bit_complement))
