"""Boxes of the grid on nodes, and boxes of those below one leaf switch."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.boxes import box_of, boxes
from hockney.network.traffic.placements.base import (
    NotApplicableError,
    Place,
    Placement,
    Situation,
    placements,
)


def blocked(of: Situation) -> Place:
    """Ranks of one node are a box of the grid, and the nodes of one leaf switch a box of such boxes.

    A level whose size does not divide the grid is left out; without any there is no such placement.
    """
    grid = of.pattern.grid
    points = np.stack(np.unravel_index(np.arange(of.pattern.ranks), grid))
    keys: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    volume = 1
    for factor in (of.ppn, _nodes_of_a_leaf(of)):
        volume *= factor
        found = boxes(grid, volume) if volume > 1 else []
        if found:
            # Inside a box by rows; the boxes are the points of the next level.
            sides = found[0]
            inside = points % np.array(sides)[:, None]
            keys.append(np.ravel_multi_index(tuple(inside), sides).astype(np.int64))
            points, grid = box_of(points, grid, sides)
            volume = 1
    if not keys or len([extent for extent in of.pattern.grid if extent > 1]) < 2:
        raise NotApplicableError("neither a node nor a leaf switch holds a box of the pattern's grid")
    keys.append(np.ravel_multi_index(tuple(points), grid).astype(np.int64))
    place = np.zeros(of.pattern.ranks, np.int64)
    place[np.lexsort(keys)] = np.arange(of.pattern.ranks) // of.ppn
    return place


def _nodes_of_a_leaf(of: Situation) -> int:
    """How many allocated nodes a leaf switch has, the last perhaps fewer; 1 where that differs."""
    links = of.among.links
    network = links.network
    if not network.switches:
        return 1
    up = links.tail < network.nodes
    leaf = np.full(network.nodes, -1)
    leaf[links.tail[up]] = links.head[up]
    _, first, count = np.unique(leaf[of.among.nodes], return_index=True, return_counts=True)
    count = count[np.argsort(first)]
    return int(count[0]) if (count[:-1] == count[0]).all() and count[-1] <= count[0] else 1


placements.register("blocked")(Placement("boxes of the grid on nodes and below leaf switches", blocked))
