"""Rank counts at which a cache, a NUMA domain, a package or a node is full and another begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.records.record import Locality

Domains = Mapping[Locality, NDArray[np.integer[Any]]]
"""Level, innermost first → the id of each rank's domain at that level, shape (ranks,); ids are global.

Of `core` it is the number of ranks before it on its core: 1 is where cores begin to be shared.
"""

EACH: tuple[Locality, ...] = ("package", "node")
"""Levels of which every further one counts. Of caches and NUMA domains only the second inside the next level is a
boundary: from there on, messages cross it anyway."""


@dataclass(frozen=True)
class Boundary:
    """A full level: `before` ranks fit into it, and with `after`, the next count measured, another one begins."""

    before: int
    after: int
    level: Locality


def boundaries(rank_counts: Iterable[int], domains_of: Callable[[int], Domains | None]) -> list[Boundary]:
    """The outermost level that begins between neighbouring `rank_counts`; none where domains are unknown."""
    outermost = []
    counts = sorted(set(rank_counts))
    used = {ranks: None if (domains := domains_of(ranks)) is None else _used(domains) for ranks in counts}
    for before, after in pairwise(counts):
        fewer, more = used[before], used[after]
        if fewer is None or more is None:
            continue
        for level in reversed(more):
            if more[level] > fewer[level]:
                outermost.append(Boundary(before, after, level))
                break
    return outermost


def begins(level: Locality) -> str:
    """What begins at a boundary, in words."""
    return "a second rank on a core" if level == "core" else f"another {level}"


def node_boundaries(nodes_of: dict[int, int]) -> list[Boundary]:
    """The boundaries of nodes, where only the number of nodes is known: {ranks: nodes}."""
    counts = sorted(nodes_of)
    return [
        Boundary(before, after, "node")
        for before, after in pairwise(counts)
        if nodes_of[after] > nodes_of[before]
    ]


def _used(ids: Domains) -> dict[Locality, int]:
    """The domains used of each level; of caches and NUMA domains 1, or 2 where some next level has several."""
    used: dict[Locality, int] = {}
    for level, outer in zip(ids, [*list(ids)[1:], None], strict=True):
        if level in EACH or outer is None:
            used[level] = int(np.unique(ids[level]).size)
        else:
            pairs = np.unique(np.stack([ids[outer], ids[level]]), axis=1)
            used[level] = min(2, int(np.unique(pairs[0], return_counts=True)[1].max()))
    return used
