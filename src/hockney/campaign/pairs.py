"""Which pairs of ranks stand for a locality."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.errors import RequestError
from hockney.records.record import LOCALITIES, Locality


def choose(
    localities: Mapping[tuple[int, int], Locality], selected: list[str], pairs: int
) -> list[tuple[Locality, int, int]]:
    """(locality, leader, follower), nearest locality first, up to `pairs` of each.

    Pairs that share no rank with those already chosen come first: they see other cores. RequestError where a
    wanted locality does not exist under this placement.
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
        used: set[int] = set()
        for _ in range(min(pairs, len(candidates))):
            best = min(candidates, key=lambda pair: (len(used & set(pair)), pair))
            candidates.remove(best)
            used.update(best)
            chosen.append((name, *best))
    return chosen
