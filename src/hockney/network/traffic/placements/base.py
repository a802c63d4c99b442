"""What a placement is: a pattern and an allocation of nodes in, the node of every rank out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hockney.network.traffic.base import Load
from hockney.network.traffic.demands.base import Allocated
from hockney.network.traffic.patterns.base import Pattern
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.walk import hops
from hockney.registry import Registry

Place = NDArray[np.int64]
"""(ranks,): which of the allocated nodes a rank is on, as an index into `Allocated.nodes`."""


class NotApplicableError(Exception):
    """This placement does not exist for this pattern and network; the text says why."""


@dataclass(frozen=True, eq=False)
class Situation:
    """What is to be mapped: as many ranks as `ppn` on each of the allocated nodes."""

    pattern: Pattern
    among: Allocated
    ppn: int
    routing: str
    seed: int

    @property
    def nodes(self) -> int:
        """How many nodes are allocated."""
        return len(self.among.nodes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the torus (of a hypercube: 2 each) that the nodes make; empty where they make none."""
        network = self.among.links.network
        if not self.among.is_whole:
            return ()
        return (2,) * (network.nodes.bit_length() - 1) if network.kind == "hypercube" else network.shape

    @cached_property
    def hops(self) -> NDArray[np.int64]:
        """(nodes, nodes): links between two allocated nodes."""
        return hops(self.among.links, self.among.nodes)

    def load(self, place: Place) -> Load:
        """What the links carry."""
        network = self.among.links.network
        moved = self.pattern.demand.placed(self.among.nodes[place]).summed(network.nodes)
        return routings.get(self.routing).load(self.among.links, moved)

    def hop_bytes(self, place: Place) -> float:
        """Sizes times links crossed, over all messages."""
        demand = self.pattern.demand
        return float(demand.size_B @ self.hops[place[demand.source], place[demand.target]])


@dataclass(frozen=True)
class Placement:
    """`place` raises NotApplicableError where there is none. `is_random`: several are drawn by seeds."""

    meaning: str
    place: Callable[[Situation], Place]
    is_random: bool = False


placements: Registry[Placement] = Registry("placement", "hockney.network.traffic.placements")
"""Placements by name."""
