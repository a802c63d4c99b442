"""A torus: every node has a router with a link to both neighbours in each dimension."""

from __future__ import annotations

import math
import re

import numpy as np

from hockney.errors import RequestError
from hockney.network.topologies.base import Network, Topology, check_size, limited, link_rate, topologies

MOST_EXTENTS = 20
"""With more, all of them 2, there would be more nodes than a network has."""


def extents(text: str) -> tuple[int, ...]:
    """`8x8x4` → (8, 8, 4)."""
    if not re.fullmatch(r"[0-9]+(x[0-9]+)*", text.strip()):
        raise RequestError(f"{text!r} are no extents", "for example 8x8x4")
    found = tuple(map(limited, text.strip().split("x")))
    if len(found) > MOST_EXTENTS:
        raise RequestError(f"{len(found)} extents are too many: {MOST_EXTENTS} is the most", "give fewer")
    return found


def torus(shape: tuple[int, ...], link: float = math.nan) -> Network:
    """A torus of `shape`; the last coordinate varies fastest. `link` in bit/s.

    An extent of 2 gives one link between the two neighbours, not two: with 2 everywhere it is a hypercube.
    """
    for number, extent in enumerate(shape):
        if extent < 1:
            raise RequestError(f"extent {number} of the torus is {extent}", "every extent is at least 1")
    nodes = math.prod(shape)
    check_size(nodes, "torus")
    at = np.arange(nodes, dtype=np.int64).reshape(shape)
    rows = [np.zeros((0, 2), np.int64)]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        to = np.roll(at, -1, axis)
        pairs = np.stack([at, to], -1)
        # Of two neighbours, around is the same way as straight on.
        rows.append((pairs if extent > 2 else pairs.take([0], axis)).reshape(-1, 2))
    ends = np.concatenate(rows)
    return Network(
        kind="torus",
        nodes=nodes,
        switches=0,
        ends=ends,
        parallel=np.ones(len(ends), np.int64),
        bandwidth_bit_per_s=np.full(len(ends), link),
        names=tuple(f"node {i}" for i in range(nodes)),
        level=np.full(nodes, -1, np.int64),
        shape=shape,
        attributes={"shape": list(shape)},
    )


topologies.register("torus")(
    Topology("torus", torus, {"shape": extents, "link": link_rate}, required=("shape",), first="shape")
)
