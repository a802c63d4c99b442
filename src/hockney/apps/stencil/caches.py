"""Where the vectors of a rank leave a cache: steps in what a cell takes, from runs on boxes of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hockney.apps.stencil.measured import Computation
from hockney.records.journal import LaunchLine
from hockney.units import format_bytes_rounded

NOTABLE = 1.2
"""Ratio of what a cell takes on neighbouring sizes from which there is a step."""
NEAR = 1.5
"""A cache may let go somewhat before or after its size: other data are in it, and not every line is used."""


@dataclass(frozen=True)
class Cache:
    """A data cache of a processor: `size_B`, for `cores` cores together."""

    level: int
    size_B: float
    cores: int

    def share_B(self, busy: int) -> float:
        """What a rank has of it, with so many ranks on the node, each on a core, next to each other.

        Ranks that are spread have more, those that share cores have less.
        """
        return self.size_B / max(1, min(self.cores, busy))


@dataclass(frozen=True)
class CacheStep:
    """A cell takes `ratio` times as long with `above_B` of vectors in a rank as with `below_B`.

    `busy`: ranks on the node. `cache`: the one that the vectors leave in between; None where none is known to.
    """

    busy: int
    below_B: float
    above_B: float
    ratio: float
    cache: Cache | None

    def in_words(self, cell: str) -> str:
        """One sentence without its full stop; `cell` is what the program calls it."""
        sizes = f"{format_bytes_rounded(self.above_B)} of vectors as with {format_bytes_rounded(self.below_B)}"
        spread = " if ranks are on neighbouring cores" if self.busy > 1 else ""
        why = (
            f"they leave the L{self.cache.level} cache, of which a rank has "
            f"{format_bytes_rounded(self.cache.share_B(self.busy))}{spread}"
            if self.cache
            else "no cache of that size is known"
        )
        ranks = f"{self.busy} rank{'s' if self.busy > 1 else ''} on a node"
        return f"with {ranks}, {cell} takes {self.ratio:.2g} times as long with {sizes}: {why}"


def caches_of(launches: Sequence[LaunchLine]) -> list[Cache]:
    """Data caches that the first rank of the launches reports; none where no launch does."""
    for launch in launches:
        for place in launch.ranks:
            kept = [cache for cache in place.caches if cache.type != "Instruction"]
            # Threads of a core share all its caches: ranks have cores of their own.
            threads = len({place.cpu, *place.siblings} - {None, -1}) or 1
            if kept:
                return [Cache(cache.level, cache.size_B, max(1, len(cache.shared) // threads)) for cache in kept]
    return []


def steps(computation: Computation, vectors: int, caches: Sequence[Cache]) -> list[CacheStep]:
    """Steps between neighbouring sizes, of each number of ranks on a node; those in a row are one.

    `vectors`: doubles that an iteration sweeps over for each cell.
    """
    found = []
    for busy, curve in sorted(computation.cell_s.items()):
        rising: list[tuple[float, float]] = []
        for below_B, above_B in [*pairwise(sorted(curve)), (0.0, 0.0)]:
            if above_B and curve[above_B] >= NOTABLE * curve[below_B]:
                rising.append((below_B, above_B))
                continue
            if rising:
                first_B, last_B = rising[0][0], rising[-1][1]
                ends_B = (first_B * vectors, last_B * vectors)
                ratio = curve[last_B] / curve[first_B]
                found.append(CacheStep(busy, *ends_B, ratio, _left(caches, busy, *ends_B)))
            rising = []
    return found


def _left(caches: Sequence[Cache], busy: int, below_B: float, above_B: float) -> Cache | None:
    """The largest cache whose share lies between the two, or near them."""
    between = [each for each in caches if below_B / NEAR <= each.share_B(busy) <= above_B * NEAR]
    return max(between, key=lambda each: each.share_B(busy), default=None)
