"""The placement of a campaign's launch, from what its ranks reported of themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from hockney.errors import RequestError
from hockney.machine.placement import Ids, Placement


def placement_of_launch(launch: Mapping[str, Any], ranks: int) -> Placement:
    """The placement of the first `ranks` ranks of a launch (a line of launches.jsonl), as they reported it.

    Localities are those of `hockney.runner.topology`. RequestError where the launch has no places (an import, a
    damaged line) or fewer ranks.
    """
    reported = launch.get("ranks")
    if not isinstance(reported, list) or not reported or not all("rank" in place for place in reported):
        raise RequestError(
            f"launch {launch.get('id', '')!r} does not tell where its ranks were",
            "give a system file and a mapping",
        )
    places = sorted(reported, key=lambda place: int(place["rank"]))
    if not 1 <= ranks <= len(places):
        raise RequestError(
            f"{ranks} ranks asked for; launch {launch.get('id', '')!r} has {len(places)}",
            "ask for 1 to that many",
        )
    return _of_places(places[:ranks])


def _of_places(places: list[Mapping[str, Any]]) -> Placement:
    def ids(key: Callable[[Mapping[str, Any]], Hashable]) -> Ids:
        return _numbered(key(place) for place in places)

    def node(place: Mapping[str, Any]) -> Hashable:
        return place.get("host"), place.get("machine")

    def package(place: Mapping[str, Any]) -> Hashable:
        return node(place), place.get("package", -1)

    def numa(place: Mapping[str, Any]) -> Hashable:
        return package(place), place.get("numa", -1)

    def core(place: Mapping[str, Any]) -> Hashable:
        cpu = place.get("cpu", -1)
        return numa(place), min([cpu, *place.get("siblings", ())]) if cpu >= 0 else ("rank", place["rank"])

    def cache(place: Mapping[str, Any]) -> Hashable:
        shared: list[list[int]] = [c["shared"] for c in place.get("caches", ()) if c["type"] != "Instruction"]
        # Without a word about caches, nothing but the core is known to be shared.
        widest = max(shared, key=len, default=[])
        return numa(place), min(widest) if widest else core(place)

    pinned = all(
        {*place.get("affinity", ())} <= {place.get("cpu"), *place.get("siblings", ())} for place in places
    )
    return Placement(
        core=ids(core),
        cache=ids(cache),
        numa=ids(numa),
        package=ids(package),
        node=ids(node),
        binding="core" if pinned else None,
    )


def _numbered(keys: Iterable[Hashable]) -> Ids:
    """0, 1, … for distinct keys in the order in which they appear."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)
