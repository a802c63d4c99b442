"""Everybody sends almost half way round each dimension, all the same way round."""

from __future__ import annotations

from hockney.errors import RequestError
from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def tornado(among: Allocated, _seed: int) -> Pairs:
    """⌈k/2⌉ − 1 further in each dimension of extent k (Dally and Towles, 2004): the other way round is longer."""
    if not among.links.network.shape or not among.is_whole:
        raise RequestError("tornado is defined on a whole torus", "choose worst-pairing or bisection")
    return among.by_coordinates(lambda here, extents: (here + (extents + 1) // 2 - 1) % extents)


traffics.register("tornado")(Traffic("⌈k/2⌉ − 1 further in each dimension of a torus", tornado))
