"""The placement of a campaign's launch, from what its ranks reported of themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from hockney.errors import RequestError
from hockney.machine.placement import Ids, Placement
from hockney.records.answers import RankPlace
from hockney.records.journal import LaunchLine


def placement_of_launch(launch: LaunchLine, ranks: int) -> Placement:
    """The placement of the first `ranks` ranks of a launch, as they reported it.

    Localities are those of `hockney.runner.topology`. RequestError where the launch has no places (an import) or
    fewer ranks.
    """
    places = sorted(launch.ranks, key=lambda place: place.rank)
    if not places:
        raise RequestError(
            f"launch {launch.id!r} does not say where its ranks were", "give a system file and a mapping"
        )
    if not 1 <= ranks <= len(places):
        raise RequestError(
            f"{ranks} ranks asked for; launch {launch.id!r} has {len(places)}", "ask for 1 to that many"
        )
    return _placement(places[:ranks])


def _placement(places: Sequence[RankPlace]) -> Placement:
    def ids(key: Callable[[RankPlace], Hashable]) -> Ids:
        """0, 1, … for distinct keys in the order in which they appear."""
        numbers: dict[Hashable, int] = {}
        return np.array([numbers.setdefault(key(place), len(numbers)) for place in places], dtype=np.int32)

    def node(place: RankPlace) -> Hashable:
        return place.host, place.machine

    def package(place: RankPlace) -> Hashable:
        return node(place), place.package

    def numa(place: RankPlace) -> Hashable:
        return package(place), place.numa

    def core(place: RankPlace) -> Hashable:
        if place.cpu is None or place.cpu < 0:
            return numa(place), ("rank", place.rank)
        return numa(place), min([place.cpu, *place.siblings])

    def cache(place: RankPlace) -> Hashable:
        shared = [cache.shared for cache in place.caches if cache.type != "Instruction"]
        # Without a word about caches, nothing but the core is known to be shared.
        widest = max(shared, key=len, default=[])
        return numa(place), min(widest) if widest else core(place)

    is_pinned = all({*place.affinity} <= {place.cpu, *place.siblings} for place in places)
    return Placement(
        core=ids(core),
        cache=ids(cache),
        numa=ids(numa),
        package=ids(package),
        node=ids(node),
        binding="core" if is_pinned else None,
    )
