"""Everybody sends to its neighbours."""

from __future__ import annotations

import numpy as np

from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics


def nearest_neighbour(among: Allocated, _seed: int) -> Pairs:
    """Along every link between two allocated nodes; without such links, to the next and the last in order."""
    links = among.links
    taking_part = np.zeros(links.network.vertices, np.bool_)
    taking_part[among.nodes] = True
    between = taking_part[links.tail] & taking_part[links.head] & (links.cable == 0)
    if between.any():
        return links.tail[between], links.head[between]
    after = np.roll(among.nodes, -1)
    if len(among.nodes) < 3:
        return among.nodes, after
    return np.concatenate([among.nodes, after]), np.concatenate([after, among.nodes])


traffics.register("nearest_neighbour")(
    Traffic("every node sends to those it has a link to; in leaf order where none has", nearest_neighbour, False),
)
