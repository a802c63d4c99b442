"""The grid of ranks laid onto the torus, with dimensions matched, split or joined."""

from __future__ import annotations

import itertools

import numpy as np

from hockney.network.traffic.boxes import box_of, boxes, fold
from hockney.network.traffic.placements.base import (
    NotApplicableError,
    Place,
    Placement,
    Situation,
    placements,
)

MOST_TRIED = 64
"""Of the ways to match extents; on a hypercube there are thousands that are alike."""


def folded(of: Situation) -> Place:
    """Of the ways to match extents, the one with the fewest hop-bytes; a node has a box of the grid."""
    if not of.shape:
        raise NotApplicableError("the allocated nodes make no whole torus or hypercube")
    pattern = of.pattern
    points = np.stack(np.unravel_index(np.arange(pattern.ranks), pattern.grid))
    best: Place | None = None
    least = np.inf
    for box in boxes(pattern.grid, of.ppn):
        inside, grid = box_of(points, pattern.grid, box)
        for at in itertools.islice(fold(grid, of.shape), MOST_TRIED):
            node = np.ravel_multi_index(tuple(at), of.shape)
            place = node[np.ravel_multi_index(tuple(inside), grid)].astype(np.int64)
            crossed = of.hop_bytes(place)
            if crossed < least:
                best, least = place, crossed
    if best is None:
        of_torus = "x".join(map(str, of.shape))
        of_grid = "x".join(map(str, pattern.grid))
        raise NotApplicableError(f"the extents of {of_grid} do not match those of {of_torus}")
    return best


placements.register("folded")(Placement("the pattern's grid folded onto the torus", folded))
