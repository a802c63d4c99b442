"""Maps of a pattern's ranks onto nodes: hop-bytes, hops, the most loaded link, and what no map can be below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Allocated
from hockney.network.traffic.patterns import Pattern, rank_number, read_lines
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.study import rounded
from hockney.network.traffic.walk import hops

DEFAULT = "linear"
"""The map that all others are compared with."""

NodeOfRank = NDArray[np.int64]
"""(ranks,): which of the allocated nodes a rank is on, as an index into `Allocated.nodes`."""


@dataclass(frozen=True)
class LoadedLink:
    """The link with the most traffic."""

    link: str
    load: float
    congestion: float


@dataclass(frozen=True)
class MappedPlacement:
    """A map, with what it does to the network; sizes are in the pattern's unit."""

    placement: str
    hop_bytes: float
    average_hops: float
    most_hops: int
    within_nodes: float
    most_loaded_link: LoadedLink | None
    average_congestion: float

    @property
    def worst(self) -> float:
        """The congestion of the most loaded link."""
        return self.most_loaded_link.congestion if self.most_loaded_link else 0.0


@dataclass(frozen=True)
class BestPlacement:
    """The best map; factors are the default's numbers as multiples of its own, None where those are 0."""

    placement: str
    default: str
    factor_of_most_loaded_link: float | None
    factor_of_hop_bytes: float | None


@dataclass(frozen=True)
class MapBound:
    """What no map of these ranks onto these nodes is below, whatever the routing."""

    hop_bytes: float
    most_loaded_link: float
    """Congestion, were the fewest hop-bytes spread over all links."""


@dataclass(frozen=True)
class MapAnswer:
    """Maps of a pattern, the best first by the most loaded link and then by hop-bytes, with their bound."""

    pattern: str
    topology: str
    ranks: int
    nodes: int
    ppn: int
    routing: str
    unit: str
    total: float
    placements: list[MappedPlacement]
    best: BestPlacement
    bound: MapBound


@dataclass(frozen=True, eq=False)
class Situation:
    """A pattern to be mapped, with `ppn` ranks on each of the allocated nodes.

    RequestError where ranks are not nodes × ppn.
    """

    pattern: Pattern
    among: Allocated
    ppn: int
    routing: str

    def __post_init__(self) -> None:
        ranks = self.pattern.ranks
        if ranks == self.nodes * self.ppn:
            return
        nodes, rest = divmod(ranks, self.ppn)
        hint = f"allocate {nodes} nodes: --allocation 0-{nodes - 1}" if not rest and nodes < self.nodes else ""
        ppn, rest = divmod(ranks, self.nodes)
        hint = hint or (f"--ppn {ppn} fits" if not rest and ppn else "change the pattern, the topology or --ppn")
        raise RequestError(
            f"{self.pattern.spec} has {ranks} ranks, and {self.nodes} nodes × {self.ppn} ranks for each have "
            f"place for {self.nodes * self.ppn}",
            hint,
        )

    @property
    def nodes(self) -> int:
        """How many nodes are allocated."""
        return len(self.among.nodes)

    @cached_property
    def hops(self) -> NDArray[np.int64]:
        """(nodes, nodes): links between two allocated nodes."""
        return hops(self.among.links, self.among.nodes)

    def placed(self, name: str, node_of_rank: NodeOfRank) -> MappedPlacement:
        """What a map does to the network."""
        demand = self.pattern.demand
        apart = self.hops[node_of_rank[demand.source], node_of_rank[demand.target]]
        hop_bytes = rounded(float(demand.size_B @ apart))
        moved = demand.placed(self.among.nodes[node_of_rank]).summed(self.among.links.network.nodes)
        load = routings.get(self.routing).load(self.among.links, moved)
        most = load.most_loaded(1)
        return MappedPlacement(
            name,
            hop_bytes,
            rounded(hop_bytes / demand.total_B),
            int(apart.max()),
            rounded(float(demand.size_B[apart == 0].sum())),
            LoadedLink(most[0][0], rounded(most[0][1]), rounded(load.worst_B)) if most else None,
            rounded(load.average_B),
        )

    def bound(self) -> MapBound:
        """What no map is below: each rank with its largest peers on the nearest nodes that any node has."""
        demand = self.pattern.demand
        # A message counts half at either end.
        both = np.concatenate([demand.source, demand.target]), np.concatenate([demand.target, demand.source])
        pair, where = np.unique(both[0] * self.pattern.ranks + both[1], return_inverse=True)
        size = np.bincount(where, np.tile(demand.size_B / 2, 2))
        rank = pair // self.pattern.ranks
        order = np.lexsort((-size, rank))
        place = np.arange(len(rank)) - np.searchsorted(rank, rank)
        nearest = np.repeat(np.sort(self.hops, axis=1).min(axis=0), self.ppn)[1:]
        least = float(size[order] @ nearest[place])
        capacity = float(self.among.links.relative_bandwidth.sum())
        return MapBound(rounded(least), rounded(least / capacity) if capacity else 0.0)


def compare(of: Situation, own: Mapping[str, NodeOfRank]) -> MapAnswer:
    """Ranks by rows and, with several on a node, dealt out in turn, beside the user's own maps."""
    ranks = np.arange(of.pattern.ranks)
    maps = {DEFAULT: ranks // of.ppn, **({"cyclic": ranks % of.nodes} if of.ppn > 1 else {}), **own}
    mapped = [of.placed(name, node_of_rank) for name, node_of_rank in maps.items()]
    default = mapped[0]
    # The default comes first among equals: it needs no change.
    mapped.sort(key=lambda row: (row.worst, row.hop_bytes, row is not default, row.placement))
    best = mapped[0]
    return MapAnswer(
        of.pattern.spec,
        of.among.links.network.spec,
        of.pattern.ranks,
        of.nodes,
        of.ppn,
        of.routing,
        of.pattern.unit,
        rounded(of.pattern.demand.total_B),
        mapped,
        BestPlacement(
            best.placement,
            DEFAULT,
            _factor(default.worst, best.worst),
            _factor(default.hop_bytes, best.hop_bytes),
        ),
        of.bound(),
    )


def _factor(default: float, best: float) -> float | None:
    return rounded(default / best) if best else (None if default else 1.0)


def read_map(path: Path, of: Situation) -> NodeOfRank:
    """Lines `rank node`, a node by its number in the network. RequestError says which rank or node is wrong."""
    position = {int(node): index for index, node in enumerate(of.among.nodes)}
    place = np.full(of.pattern.ranks, -1)
    for line, (rank_text, node_text) in read_lines(path, ("rank", "node")):
        rank, node = rank_number(rank_text, path, line), rank_number(node_text, path, line)
        if rank >= len(place):
            raise RequestError(
                f"{path}, line {line}: the pattern has {len(place)} ranks, no rank {rank}", "count from 0"
            )
        if node not in position:
            raise RequestError(f"{path}, line {line}: node {node} is not allocated", "nodes count from 0")
        if place[rank] >= 0:
            raise RequestError(f"{path}, line {line}: rank {rank} has a node already", "one line for each rank")
        place[rank] = position[node]
    if (place < 0).any():
        raise RequestError(f"{path}: rank {int(np.argmin(place))} has no node", "one line for each rank")
    count = np.bincount(place, minlength=of.nodes)
    if (count > of.ppn).any():
        node = int(np.argmax(count))
        raise RequestError(
            f"{path}: {count[node]} ranks on node {of.among.nodes[node]}, and --ppn is {of.ppn}",
            "give a larger --ppn",
        )
    return place
