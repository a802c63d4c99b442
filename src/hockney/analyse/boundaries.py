"""Rank counts at which a cache, a NUMA domain, a package or a node is full and another begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hockney.machine.placement import DOMAINS, Placement
from hockney.machine.system import Level

EACH: tuple[Level, ...] = ("package", "node")
"""Levels of which every further one counts. Of caches and NUMA domains only the second inside the next level is a
boundary: from there on, messages cross it anyway."""


@dataclass(frozen=True)
class Boundary:
    """Up to `before` ranks everything fits; with `after`, the next count measured, another `level` begins."""

    before: int
    after: int
    level: Level


def boundaries(rank_counts: Iterable[int], placement_of: Callable[[int], Placement | None]) -> list[Boundary]:
    """Between neighbouring `rank_counts`, the outermost level that begins; none beside a count without place."""
    found = []
    counts = sorted(set(rank_counts))
    used = {ranks: None if (placed := placement_of(ranks)) is None else _used(placed) for ranks in counts}
    for before, after in pairwise(counts):
        fewer, more = used[before], used[after]
        if fewer is None or more is None:
            continue
        for level in reversed(DOMAINS):
            if more[level] > fewer[level]:
                found.append(Boundary(before, after, level))
                break
    return found


def node_boundaries(nodes_of: dict[int, int]) -> list[Boundary]:
    """Where the number of nodes alone is known: {ranks: nodes}."""
    counts = sorted(nodes_of)
    return [
        Boundary(before, after, "node")
        for before, after in pairwise(counts)
        if nodes_of[after] > nodes_of[before]
    ]


def _used(placed: Placement) -> dict[Level, int]:
    """By level: how many are used; of caches and NUMA domains 1, or 2 where any next level holds more of them."""
    ids = dict(zip(DOMAINS, placed.domains(), strict=True))
    used: dict[Level, int] = {}
    for level, outer in zip(DOMAINS, (*DOMAINS[1:], None), strict=True):
        if level in EACH or outer is None:
            used[level] = int(np.unique(ids[level]).size)
        else:
            pairs = np.unique(np.stack([ids[outer], ids[level]]), axis=1)
            used[level] = min(2, int(np.unique(pairs[0], return_counts=True)[1].max()))
    return used
