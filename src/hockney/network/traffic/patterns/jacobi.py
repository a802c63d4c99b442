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
    grid = extents(text)
    if 0 in grid:
        raise RequestError(f"the grid {text} has an extent of 0", "every extent is at least 1")
    ranks = math.prod(grid)
    check_pairs(2 * len(grid) * ranks, f"a halo exchange of {text}")
    if volumes.cells is not None and volumes.size_B is not None:
        raise RequestError("--cells and --bytes are two answers to one question", "give one")
    if volumes.cells is not None and len(volumes.cells) != len(grid):
        raise RequestError(
            f"--cells has {len(volumes.cells)} extents, and the grid of ranks {len(grid)}", "give one for each"
        )
    if volumes.cells is not None and min(volumes.cells) < 1:
        raise RequestError("--cells has an extent of 0", "every rank has at least one cell in each direction")
    at = np.arange(ranks).reshape(grid)
    parts: list[Demand] = []
    for axis in range(len(grid)):
        face = 1.0 if volumes.size_B is None else volumes.size_B
        if volumes.cells is not None:
            face_B = CELL_B * math.prod(volumes.cells) // volumes.cells[axis]
            check_bytes(face_B, "a face of --cells")
            face = float(face_B)
        low, high = at, np.roll(at, -1, axis)
        if not volumes.periodic:
            low, high = (np.delete(one, -1, axis) for one in (low, high))
        parts += [Demand.of(low, high, face), Demand.of(high, low, face)]
    demand = Demand(
        np.concatenate([one.source for one in parts]),
        np.concatenate([one.target for one in parts]),
        np.concatenate([one.size_B for one in parts]),
    )
    unit = "faces" if volumes.cells is None and volumes.size_B is None else "B"
    return Pattern(f"jacobi:{text}", grid, demand, unit, {"periodic": volumes.periodic})


patterns.register("jacobi")(
    PatternKind("halo exchange of a grid of ranks", "jacobi:8x8x4", jacobi, takes=("bytes", "cells", "periodic"))
)
