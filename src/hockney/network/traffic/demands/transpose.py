"""Everybody sends to the node on the other side of the diagonal."""

from __future__ import annotations

import math

import numpy as np

from hockney.errors import RequestError
from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def transpose(among: Allocated, _seed: int) -> Pairs:
    """On a cubic torus coordinates in reverse order; otherwise the nodes as a square matrix by rows."""
    if among.is_whole and len(set(among.links.network.shape)) == 1:
        return among.by_coordinates(lambda here, _: here[::-1])
    side = math.isqrt(len(among.nodes))
    if side**2 != len(among.nodes):
        raise RequestError(
            f"transpose needs a square number of nodes, not {len(among.nodes)}",
            f"allocate {side**2}, or take a torus with equal extents",
        )
    return among.nodes, np.ascontiguousarray(among.nodes.reshape(side, side).T).ravel()


traffics.register("transpose")(
    Traffic("coordinates in reverse order, or the nodes as a square matrix transposed", transpose)
)
