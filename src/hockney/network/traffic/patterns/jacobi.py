"""Halo exchange of a grid of processes: every rank with its neighbours in each dimension."""

from __future__ import annotations

import math

import numpy as np

from hockney.errors import RequestError
from hockney.network.topologies.torus import extents
from hockney.network.traffic.base import Demand, check_bytes, check_pairs
from hockney.network.traffic.patterns.base import Pattern, PatternKind, Volumes, patterns

CELL_B = 8
"""A double."""


def jacobi(text: str, volumes: Volumes) -> Pattern:
    """`AxBxC` ranks. A face is `size_B`, or what `cells` of a rank give in doubles; without both, 1."""
    grid = extents(text, "ranks")
    ranks = math.prod(grid)
    check_pairs(2 * len(grid) * ranks, f"a halo exchange of {text}")
    if volumes.cells is not None and volumes.size_B is not None:
        raise RequestError("--subdomain and --bytes are two answers to one question", "give one")
    if volumes.cells is not None and len(volumes.cells) != len(grid):
        raise RequestError(
            f"--subdomain has {len(volumes.cells)} extents, and the grid of ranks {len(grid)}",
            "give one for each",
        )
    at = np.arange(ranks).reshape(grid)
    parts: list[Demand] = []
    for axis in range(len(grid)):
        face = 1.0 if volumes.size_B is None else volumes.size_B
        if volumes.cells is not None:
            face_B = CELL_B * math.prod(volumes.cells) // volumes.cells[axis]
            check_bytes(face_B, "a face of --subdomain")
            face = float(face_B)
        low, high = at, np.roll(at, -1, axis)
        if not volumes.periodic:
            low, high = (np.delete(part, -1, axis) for part in (low, high))
        parts += [Demand.of(low, high, face), Demand.of(high, low, face)]
    demand = Demand(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.size_B for part in parts]),
    )
    unit = "faces" if volumes.cells is None and volumes.size_B is None else "B"
    return Pattern(f"jacobi:{text}", grid, demand, unit, {"periodic": volumes.periodic})


patterns.register("jacobi")(
    PatternKind(
        "halo exchange of a grid of ranks", "jacobi:8x8x4", jacobi, takes=("bytes", "subdomain", "periodic")
    )
)
