"""What a routing is: a demand between nodes in, the load of every directed link out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.network.traffic.base import Demand, Links, Load
from hockney.registry import Registry


@dataclass(frozen=True)
class Routing:
    """`carry` gives the bytes on every directed link (M,); RequestError where a network has no such routing."""

    meaning: str
    carry: Callable[[Links, Demand], NDArray[np.float64]]

    def load(self, links: Links, demand: Demand) -> Load:
        """What the links carry of a demand between nodes."""
        return Load(links, self.carry(links, demand))


routings: Registry[Routing] = Registry(
    "routing", "hockney.network.traffic.routings", "reference/network-traffic.md"
)
"""Routings by name."""
