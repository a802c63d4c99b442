"""The up/down routing on a tree of switches: up to a nearest common ancestor, then down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Demand, Links, added
from hockney.network.traffic.routings.base import Routing, routings
from hockney.network.traffic.walk import Walks, by_source

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def tree_walks(links: Links, routing: str) -> Walks:
    """States: each vertex on the way up (its number), and on the way down (vertices + its number).

    RequestError, which names the routing, where the vertices have no levels, or a link joins two of one level.
    """
    network = links.network
    rise = network.level[links.head] - network.level[links.tail]
    if (network.level < 0).any() or not (rise != 0).all():
        raise RequestError(
            f"{routing} needs a tree of levels, and this {network.kind.replace('_', ' ')} has none",
            "choose --routing shortest",
        )
    number = np.arange(len(links.tail))
    up, down = number[rise > 0], number[rise < 0]
    vertices = network.vertices
    tail = np.concatenate([links.tail[up], links.tail[down], links.tail[down] + vertices])
    head = np.concatenate([links.head[up], links.head[down] + vertices, links.head[down] + vertices])
    vertex = np.tile(np.arange(vertices), 2)
    return Walks(links, tail, head, np.concatenate([up, down, down]), vertex, np.ones(2 * vertices, np.bool_))


def up_down(links: Links, demand: Demand) -> Floats:
    """Evenly over all ways up and down between two nodes: what a perfect spread over the up ports gives."""
    walks = tree_walks(links, "up-down")
    vertices = links.network.vertices

    def from_source(source: int, targets: Ints, size_B: Floats) -> Floats:
        return walks.spread(source, added(targets + vertices, size_B, walks.states))

    return by_source(demand, from_source, links)


routings.register("up_down")(
    Routing("up to a nearest common ancestor and down, evenly over all up ports", up_down),
)
