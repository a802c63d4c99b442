"""The locality of a pair of ranks, and ranks that share processors, from the places that the runner reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from hockney.records.answers import RankPlace
from hockney.records.record import Locality
from hockney.units import counted, grouped, in_ranges


def locality(a: RankPlace, b: RankPlace) -> Locality:
    """The innermost level that holds both ranks at the CPUs they started on.

    `core`: same physical core (SMT siblings, or even the same CPU). `cache`: same NUMA domain and a data cache
    in common. `numa`: same NUMA domain only. `package`: same package, another NUMA domain. `node`: same host,
    another package. `network`: another host, even where both hosts are namespaces of one machine.
    """
    if (a.host, a.machine) != (b.host, b.machine):
        return "network"
    if a.package != b.package:
        return "node"
    if a.cpu == b.cpu or b.cpu in a.siblings:
        return "core"
    if a.numa != b.numa:
        return "package"
    return "cache" if _share_cache(a, b) else "numa"


def _share_cache(a: RankPlace, b: RankPlace) -> bool:
    both = {a.cpu, b.cpu}
    return any(cache.type != "Instruction" and both.issubset(cache.shared) for cache in a.caches)


def localities(ranks: Sequence[RankPlace]) -> dict[str, Locality]:
    """`{"0-1": "cache", …}` for every pair, lower rank first."""
    ordered = sorted(ranks, key=lambda r: r.rank)
    return {f"{a.rank}-{b.rank}": locality(a, b) for a, b in combinations(ordered, 2)}


def _machines(ranks: Sequence[RankPlace]) -> Iterable[list[RankPlace]]:
    """Ranks by physical machine; hosts that are namespaces of one machine fall together."""
    return grouped(ranks, lambda rank: rank.machine or rank.host).values()


def _names(ranks: Sequence[RankPlace]) -> str:
    return " and ".join(sorted({r.host for r in ranks}))


def oversubscribed(ranks: Sequence[RankPlace]) -> list[str]:
    """Why ranks must share CPUs, one sentence per reason; empty where each can have one of its own.

    Counted per physical machine: more ranks than CPUs allowed to them, and more ranks pinned inside a set of CPUs
    than the set has (two "hosts" that are one machine easily pin both their first ranks to CPU 0).
    """
    reasons: list[str] = []
    for group in _machines(ranks):
        sets = {frozenset(r.affinity) for r in group} - {frozenset()}
        union = frozenset().union(*sets) if sets else frozenset()
        if union and len(group) > len(union):
            reasons.append(f"{counted(len(group), 'rank')} on {len(union)} CPUs of {_names(group)}")
        for cpus in sorted(sets - {union}, key=sorted):
            inside = [r for r in group if r.affinity and cpus.issuperset(r.affinity)]
            if len(inside) > len(cpus):
                which = ", ".join(str(r.rank) for r in sorted(inside, key=lambda r: r.rank))
                reasons.append(f"ranks {which} pinned to CPU {in_ranges(cpus)} of {_names(inside)}")
    return reasons


def notes(ranks: Sequence[RankPlace]) -> list[str]:
    """What a reader of the localities has to know: ranks that may move, hosts that are one machine."""
    texts: list[str] = []
    loose = [r for r in ranks if not set(r.affinity) <= {r.cpu, *r.siblings}]
    if loose:
        which = in_ranges(r.rank for r in loose)
        texts.append(f"ranks {which} are not pinned to a core: their locality is as seen at the start")
    for group in _machines(ranks):
        hosts = {r.host for r in group}
        if len(hosts) > 1:
            texts.append(
                f"hosts {_names(group)} are one machine: their network is not a network between machines"
            )
    return texts
