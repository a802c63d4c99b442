"""Which pairs of ranks stand for a locality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hockney.errors import RequestError
from hockney.records.answers import RankPlace
from hockney.records.record import LOCALITIES, Locality
from hockney.units import grouped

MOST_SEEN = 512
"""Pairs grow with the square of the ranks: ten thousand have fifty million."""


def seen(ranks: Sequence[RankPlace]) -> list[RankPlace]:
    """The ranks whose pairs are looked at: all, or of many some of two hosts and the first of other hosts."""
    if len(ranks) <= MOST_SEEN:
        return list(ranks)
    hosts = list(grouped(ranks, lambda place: (place.host, place.machine)).values())
    quarter = MOST_SEEN // 4
    near = [
        place
        for host in hosts[:2]
        for place in [*host[: quarter // 2], *_thinned(host[quarter // 2 :], quarter // 2)]
    ]
    far = _thinned([host[0] for host in hosts[2:]], 2 * quarter)
    return sorted([*near, *far], key=lambda place: place.rank)


def _thinned(ranks: Sequence[RankPlace], most: int) -> Sequence[RankPlace]:
    return ranks[:: -(-len(ranks) // most) or 1]


def choose(
    localities: Mapping[tuple[int, int], Locality], selected: list[str], pairs: int
) -> list[tuple[Locality, int, int]]:
    """(locality, leader, follower), nearest locality first, up to `pairs` of each.

    Pairs that share no rank with those already chosen come first: they see other cores. Of these, pairs as far
    apart in the order of hosts (or of what is inside the locality) as no other: they see other numbers of hops.
    RequestError where a wanted locality does not exist under this placement.
    """
    present = [name for name in LOCALITIES if name in localities.values()]
    for name in selected:
        if name not in LOCALITIES:
            raise RequestError(f"unknown locality {name!r}", f"known: {', '.join(LOCALITIES)}")
        if name not in present:
            raise RequestError(
                f"no pair of ranks has locality {name!r} under this placement",
                f"there are: {', '.join(present)}; more ranks, hosts or another --map-by give others",
            )
    chosen: list[tuple[Locality, int, int]] = []
    for name in present:
        if selected and name not in selected:
            continue
        candidates = sorted(pair for pair, locality in localities.items() if locality == name)
        group = _groups(localities, name)
        used: set[int] = set()
        distances: Counter[int] = Counter()
        for _ in range(min(pairs, len(candidates))):
            best = min(
                candidates,
                key=lambda pair: (len(used & set(pair)), distances[group[pair[1]] - group[pair[0]]], pair),
            )
            candidates.remove(best)
            used.update(best)
            distances[group[best[1]] - group[best[0]]] += 1
            chosen.append((name, *best))
    return chosen


def _groups(localities: Mapping[tuple[int, int], Locality], name: Locality) -> dict[int, int]:
    """The number, by rank, of what lies inside a locality: of its host, for `network`."""
    first: dict[int, int] = {}
    inside = LOCALITIES[: LOCALITIES.index(name)]
    for (leader, follower), locality in sorted(localities.items()):
        first.setdefault(leader, leader)
        first.setdefault(follower, follower)
        if locality in inside:
            first[follower] = min(first[follower], first[leader])
    numbers = {rank: number for number, rank in enumerate(sorted(set(first.values())))}
    return {rank: numbers[leader] for rank, leader in first.items()}
