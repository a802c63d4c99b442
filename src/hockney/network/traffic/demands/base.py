"""What traffic between nodes is: a network and an allocation of its nodes in, pairs out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.network.traffic.base import Links
from hockney.registry import Registry

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Senders and receivers, as vertices of the network."""


@dataclass(frozen=True, eq=False)
class Allocated:
    """Nodes of a network that take part: `nodes` (n,), in the order in which a program has them."""

    links: Links
    nodes: NDArray[np.int64]

    @property
    def is_whole(self) -> bool:
        """Whether all nodes of the network take part, in their order."""
        return np.array_equal(self.nodes, np.arange(self.links.network.nodes))

    def by_coordinates(self, move: Callable[..., Any]) -> Pairs:
        """Every node of a whole torus with the one at `move(coordinates, extents)`, both (dimensions, nodes)."""
        shape = self.links.network.shape
        here = np.stack(np.unravel_index(self.nodes, shape))
        there = move(here, np.array(shape)[:, None])
        return self.nodes, np.ravel_multi_index(tuple(there), shape).astype(np.int64)


@dataclass(frozen=True)
class Traffic:
    """`pairs` takes the allocation and a seed; RequestError where such traffic is not defined.

    `is_pairing`: every node sends to at most one other. `is_random`: the seed matters.
    """

    meaning: str
    pairs: Callable[[Allocated, int], Pairs]
    is_pairing: bool = True
    is_random: bool = False


traffics: Registry[Traffic] = Registry("traffic", "hockney.network.traffic.demands")
"""Traffic by name."""
