"""Everybody sends as far as a pairing allows: the worst case of document 003, section 3."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from hockney.errors import RequestError
from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics
from hockney.network.traffic.walk import hops

MOST_ASSIGNED = 2048
"""The assignment takes time in the cube of the nodes: some 10 s for so many."""


def worst_pairing(among: Allocated, _seed: int) -> Pairs:
    """Each node to one other, with the largest sum of hops of all such pairings.

    On a whole torus the node ⌊k/2⌋ further in each dimension, on a whole hypercube the opposite corner: both as
    far as there is. Otherwise an assignment of maximum weight. It is the worst by distance: another pairing may
    load one link more.
    """
    network = among.links.network
    if among.is_whole and network.shape:
        return among.by_coordinates(lambda here, extents: (here + extents // 2) % extents)
    if among.is_whole and network.kind == "hypercube":
        return among.nodes, among.nodes[::-1]
    if len(among.nodes) > MOST_ASSIGNED:
        raise RequestError(
            f"the worst pairing of {len(among.nodes)} nodes takes too long, more than {MOST_ASSIGNED} do",
            "allocate fewer nodes with --allocation, or choose --traffic bisection",
        )
    row, column = linear_sum_assignment(hops(among.links, among.nodes), maximize=True)
    return among.nodes[np.asarray(row)], among.nodes[np.asarray(column)]


traffics.register("worst_pairing")(
    Traffic("every node with one other, the sum of hops as large as it can be", worst_pairing)
)
