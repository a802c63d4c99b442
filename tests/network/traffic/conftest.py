"""Small graphs, and routing by brute force: all shortest paths listed one by one."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney.network.topologies.base import Network
from hockney.network.traffic.base import Demand, Links

Made = Callable[..., Network]
Brute = Callable[[Links, Demand], NDArray[np.float64]]


@pytest.fixture(scope="session")
def graph() -> Made:
    """Make a network of links (a, b, parallel): `nodes` first, then `switches`; level −1 or as given."""

    def make(
        links: Sequence[tuple[int, int, int]], nodes: int, switches: int = 0, level: Sequence[int] | None = None
    ) -> Network:
        return Network(
            kind="edge_list",
            nodes=nodes,
            switches=switches,
            ends=np.array([link[:2] for link in links], np.int64).reshape(-1, 2),
            parallel=np.array([link[2] for link in links], np.int64),
            bandwidth_bit_per_s=np.full(len(links), math.nan),
            names=tuple(f"vertex {i}" for i in range(nodes + switches)),
            level=np.array([-1] * (nodes + switches) if level is None else level, np.int64),
        )

    return make


def _shortest_paths(links: Links, source: int, target: int) -> list[list[int]]:
    """Every shortest path as the directed links that it crosses; switched networks' nodes pass nothing on."""
    network = links.network
    complete: list[list[int]] = []
    waiting: deque[tuple[int, list[int]]] = deque([(source, [])])
    while waiting:
        at, path = waiting.popleft()
        if complete and len(path) >= len(complete[0]):
            continue
        if path and at < network.nodes and network.switches:
            continue
        for link in np.flatnonzero(links.tail == at):
            further = [*path, int(link)]
            if links.head[link] == target:
                complete.append(further)
            elif len(path) < network.vertices:
                waiting.append((int(links.head[link]), further))
    return complete


@pytest.fixture(scope="session")
def brute_force() -> Brute:
    """The load of every directed link with each pair's bytes spread over its listed shortest paths."""

    def carry(links: Links, demand: Demand) -> NDArray[np.float64]:
        carried = np.zeros(len(links.tail))
        for source, target, size in zip(demand.source, demand.target, demand.size_B, strict=True):
            paths = _shortest_paths(links, int(source), int(target))
            for path in paths:
                carried[path] += size / len(paths)
        return carried

    return carry
