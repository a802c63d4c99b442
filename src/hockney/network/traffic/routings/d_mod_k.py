"""Deterministic up/down routing: the destination's number chooses every port (D-mod-K, Zahavi 2010)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hockney.network.traffic.base import Demand, Links, added
from hockney.network.traffic.routings.base import Routing, routings
from hockney.network.traffic.routings.up_down import tree_walks
from hockney.network.traffic.walk import Walks, by_source

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def d_mod_k(links: Links, demand: Demand) -> Floats:
    """A vertex of level l with w parents and p cables to each takes port ⌊d / D⌋ mod (w·p) upward to node d.

    D is the product of the parents of the levels below. Port q is cable ⌊q / w⌋ to parent q mod w; the way down
    takes the cable that the way up from there would. All messages to one node thus share one tree.
    """
    walks = tree_walks(links, "d-mod-k")
    parents = _parents(links)
    level = links.network.level
    widest = np.array([max(parents[level == height].max(initial=1), 1) for height in range(int(level.max()) + 1)])
    divisor = np.cumprod(np.concatenate([[1], widest]))[:-1]
    # To a node is backwards from it: all walks to it make a tree once every vertex has chosen its way.
    backward = Walks(links, walks.head, walks.tail, walks.link, walks.vertex, walks.forwards)
    vertices = links.network.vertices

    def choose(steps: Ints, target: int) -> Ints:
        tail, head = walks.tail[steps], walks.head[steps]
        cable = links.cable[walks.link[steps]]
        order = np.lexsort((head, cable, tail))
        begin = np.flatnonzero(np.diff(tail[order], prepend=-1))
        count = np.diff(np.append(begin, len(order)))
        first = steps[order[begin]]
        above, below = walks.vertex[walks.tail[first]], walks.vertex[walks.head[first]]
        is_up = level[above] < level[below]
        low = np.where(is_up, above, below)
        digit = target // divisor[level[low]]
        port = np.where(is_up, digit, digit // parents[low]) % count
        taken: Ints = steps[order[begin + port]]
        return taken

    def to_target(target: int, sources: Ints, size_B: Floats) -> Floats:
        waiting = added(sources, size_B, walks.states)
        senders = waiting > 0
        _, by_level = backward.levels(target + vertices, senders)
        carried = np.zeros(len(links.tail))
        for steps in reversed(by_level):
            taken = choose(steps, target)
            moved = waiting[walks.tail[taken]]
            np.add.at(carried, walks.link[taken], moved)
            np.add.at(waiting, walks.head[taken], moved)
        return carried

    return by_source(Demand(demand.target, demand.source, demand.size_B), to_target, links)


def _parents(links: Links) -> Ints:
    """(vertices,): how many different vertices of a higher level each has a link to, at least 1."""
    level = links.network.level
    up = level[links.head] > level[links.tail]
    pairs = np.unique(np.stack([links.tail[up], links.head[up]]), axis=1)
    return np.maximum(np.bincount(pairs[0], minlength=links.network.vertices), 1)


routings.register("d_mod_k")(
    Routing("up and down with every port chosen by the destination's number", d_mod_k),
)
