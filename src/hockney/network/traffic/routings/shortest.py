"""Ideal adaptive routing: a pair's bytes are spread evenly over all its shortest paths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hockney.network.traffic.base import Demand, Links, added
from hockney.network.traffic.routings.base import Routing, routings
from hockney.network.traffic.walk import by_source, plain


def shortest(links: Links, demand: Demand) -> NDArray[np.float64]:
    """Every shortest path of a pair, cable by cable, carries the same share.

    Of the two usual ideals (equal shares for paths, or for the ways out of every router) this is the one that
    does not depend on where one looks from: the way back carries what the way there does.
    """
    walks = plain(links)

    def from_source(source: int, targets: NDArray[np.int64], size_B: NDArray[np.float64]) -> NDArray[np.float64]:
        return walks.spread(source, added(targets, size_B, walks.states))

    return by_source(demand, from_source, links)


routings.register("shortest")(
    Routing("ideal adaptive: evenly over all shortest paths of a pair", shortest),
)
