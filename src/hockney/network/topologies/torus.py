"""A torus: every node has a router with a link to both neighbours in each dimension."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from hockney.fields import Option
from hockney.network.topologies.base import (
    LARGEST,
    Link,
    Network,
    Topology,
    check_size,
    direct_network,
    topologies,
)
from hockney.units import parse_extents

MOST_EXTENTS = 20
"""More extents, even if all were 2, would give more nodes than a network may have."""


def extents(text: str, each: str = "nodes") -> tuple[int, ...]:
    """`8x8x4` → (8, 8, 4), numbers of `each` along every direction."""
    dimensions = range(1, MOST_EXTENTS + 1)
    example = f"8x8x4, {MOST_EXTENTS} numbers at most"
    return parse_extents(text, "a list of extents", each, dimensions=dimensions, at_most=LARGEST, example=example)


def torus(shape: tuple[int, ...], link: float = math.nan) -> Network:
    """A torus of `shape`; the last coordinate varies fastest. `link` in bit/s.

    An extent of 2 gives one link between the two neighbours, not two: with 2 everywhere it is a hypercube.
    """
    nodes = math.prod(shape)
    check_size(nodes, nodes * len(shape), "torus")
    at = np.arange(nodes, dtype=np.int64).reshape(shape)
    rows = [np.zeros((0, 2), np.int64)]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        to = np.roll(at, -1, axis)
        pairs = np.stack([at, to], -1)
        # With an extent of 2, both ways lead to the same neighbour.
        rows.append((pairs if extent > 2 else pairs.take([0], axis)).reshape(-1, 2))
    return direct_network("torus", nodes, np.concatenate(rows), link, {"shape": list(shape)}, shape)


class TorusOptions(BaseModel):
    """A torus: the nodes are routers themselves, each linked to both neighbours in each dimension."""

    shape: Annotated[tuple[int, ...], Option("Extents: 8x8x4; the last coordinate varies fastest.", read=extents)]
    link: Link = math.nan


topologies.register("torus")(
    Topology(
        "torus",
        torus,
        TorusOptions,
        first="shape",
    )
)
