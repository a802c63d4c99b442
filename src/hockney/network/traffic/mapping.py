"""Placements of a pattern on a network compared: hop-bytes, hops, the most loaded link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hockney.errors import RequestError
from hockney.network.traffic.base import Load, Progress, silent
from hockney.network.traffic.patterns.base import rank_number, read_lines
from hockney.network.traffic.placements import NotApplicableError, Place, Situation, placements
from hockney.network.traffic.study import rounded

DEFAULT = "linear"
"""The placement that all others are compared with."""


@dataclass(frozen=True, eq=False)
class Mapped:
    """One placement of a pattern and the load it causes. Sizes are in the pattern's unit."""

    name: str
    place: Place
    load: Load
    of: Situation

    @property
    def worst(self) -> float:
        """The congestion of the most loaded link."""
        return rounded(self.load.worst_B)

    @property
    def hop_bytes(self) -> float:
        """Sizes times links crossed."""
        return rounded(self.of.hop_bytes(self.place))

    def as_data(self) -> dict[str, Any]:
        """The placement as JSON."""
        demand = self.of.pattern.demand
        apart = self.of.hops[self.place[demand.source], self.place[demand.target]]
        most = self.load.most_loaded(1)
        return {
            "placement": self.name,
            "hop_bytes": self.hop_bytes,
            "average_hops": rounded(self.hop_bytes / demand.total_B),
            "most_hops": int(apart.max()),
            "within_nodes": rounded(float(demand.size_B[apart == 0].sum())),
            "most_loaded_link": {"link": most[0][0], "load": rounded(most[0][1]), "congestion": self.worst}
            if most
            else None,
            "average_congestion": rounded(self.load.average_B),
        }


@dataclass(frozen=True, eq=False)
class MapComparison:
    """Placements from the best to the worst, by the most loaded link and then by hop-bytes."""

    of: Situation
    mapped: Sequence[Mapped]
    without: Mapping[str, str]
    """Placements that do not exist here, and why."""

    @property
    def best(self) -> Mapped:
        """The best placement."""
        return self.mapped[0]

    @property
    def default(self) -> Mapped:
        """The placement `linear`."""
        return next(mapped for mapped in self.mapped if mapped.name == DEFAULT)

    def factor(self, of: str) -> float | None:
        """The default's `worst` or `hop_bytes` as a multiple of the best placement's; None where that is 0."""
        best, default = getattr(self.best, of), getattr(self.default, of)
        return rounded(default / best) if best else (1.0 if not default else None)

    def as_data(self) -> dict[str, Any]:
        """The comparison as JSON."""
        pattern, network = self.of.pattern, self.of.among.links.network
        return {
            "pattern": pattern.spec,
            **pattern.about,
            "topology": network.spec,
            "ranks": pattern.ranks,
            "nodes": self.of.nodes,
            "ppn": self.of.ppn,
            "routing": self.of.routing,
            "seed": self.of.seed,
            "unit": pattern.unit,
            "total": rounded(pattern.demand.total_B),
            "placements": [mapped.as_data() for mapped in self.mapped],
            "not_applicable": dict(self.without),
            "best": {
                "placement": self.best.name,
                "default": DEFAULT,
                "factor_of_most_loaded_link": self.factor("worst"),
                "factor_of_hop_bytes": self.factor("hop_bytes"),
            },
        }


def check_ranks(of: Situation) -> None:
    """RequestError where ranks are not nodes × ppn."""
    pattern = of.pattern
    if pattern.ranks != of.nodes * of.ppn:
        raise RequestError(
            f"{pattern.spec} has {pattern.ranks} ranks, and {of.nodes} nodes × {of.ppn} ranks for each have "
            f"place for {of.nodes * of.ppn}",
            _hint(of),
        )


def _hint(of: Situation) -> str:
    nodes, rest = divmod(of.pattern.ranks, of.ppn)
    if not rest and nodes < of.nodes:
        return f"allocate {nodes} nodes: --allocation {nodes}"
    ppn, rest = divmod(of.pattern.ranks, of.nodes)
    return f"--ppn {ppn} fits" if not rest and ppn else "change the pattern, the topology or --ppn"


def compare(
    of: Situation, *, samples: int, own: Mapping[str, Place], progress: Progress = silent
) -> MapComparison:
    """All placements that exist here, and the user's own; of `samples` random ones the median counts."""
    check_ranks(of)

    # Large patterns spend their time in routing, and random maps are routed once for each sample.
    total = len(own) + sum(samples if placement.is_random else 1 for _, placement in placements)
    done = 0

    def mapped(name: str, place: Place) -> Mapped:
        nonlocal done
        progress(done / total, f"routing {name}")
        done += 1
        return Mapped(name, place, of.load(place), of)

    maps = [mapped(name, place) for name, place in own.items()]
    without: dict[str, str] = {}
    for name, placement in placements:
        try:
            if placement.is_random:
                seeds = [replace(of, seed=of.seed + number) for number in range(samples)]
                drawn = sorted((mapped(name, placement.place(seeded)) for seeded in seeds), key=_rank)
                maps.append(drawn[(samples - 1) // 2])
            else:
                maps.append(mapped(name, placement.place(of)))
        except NotApplicableError as reason:
            without[name] = str(reason)
    maps.sort(key=_rank)
    return MapComparison(of, maps, without)


def _rank(mapped: Mapped) -> tuple[float, float, bool, str]:
    # The default comes first among equals: it needs no change.
    return mapped.worst, mapped.hop_bytes, mapped.name != DEFAULT, mapped.name


def read_map(path: Path, of: Situation) -> Place:
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
