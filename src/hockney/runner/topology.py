"""Where ranks are to each other: the locality of a pair, and ranks that share what they should have alone.

Works on the placements that the runner reports: per rank a mapping with `rank`, `host`, `machine` (boot id),
`cpu`, `affinity` (CPU numbers), `package`, `numa`, `core`, `siblings` (CPUs of the same core) and `caches`
(`level`, `type`, `size_B`, `shared`: CPU numbers). What a system does not tell is absent, -1 or empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from hockney.records.record import Locality

Placement = Mapping[str, Any]


def locality(a: Placement, b: Placement) -> Locality:
    """The innermost level that holds both ranks at the CPUs they started on.

    `core`: same physical core (SMT siblings, or even the same CPU). `cache`: same NUMA domain and a data cache
    in common. `numa`: same NUMA domain only. `package`: same package, another NUMA domain. `node`: same host,
    another package. `network`: another host, even where both hosts are namespaces of one machine.
    """
    if a.get("host") != b.get("host") or a.get("machine") != b.get("machine"):
        return "network"
    if _differ(a, b, "package"):
        return "node"
    if a.get("cpu") == b.get("cpu") or b.get("cpu") in a.get("siblings", ()):
        return "core"
    if _differ(a, b, "numa"):
        return "package"
    return "cache" if _share_cache(a, b) else "numa"


def _differ(a: Placement, b: Placement, key: str) -> bool:
    return bool(a.get(key, -1) != b.get(key, -1))


def _share_cache(a: Placement, b: Placement) -> bool:
    both = {a.get("cpu"), b.get("cpu")}
    return any(c["type"] != "Instruction" and both.issubset(c["shared"]) for c in a.get("caches", ()))


def localities(ranks: Sequence[Placement]) -> dict[str, Locality]:
    """`{"0-1": "cache", …}` for every pair, lower rank first."""
    ordered = sorted(ranks, key=lambda r: int(r["rank"]))
    return {f"{a['rank']}-{b['rank']}": locality(a, b) for a, b in combinations(ordered, 2)}


def _machines(ranks: Sequence[Placement]) -> dict[str, list[Placement]]:
    """Ranks by physical machine; hosts that are namespaces of one machine fall together."""
    groups: dict[str, list[Placement]] = defaultdict(list)
    for rank in ranks:
        groups[str(rank.get("machine") or rank.get("host"))].append(rank)
    return dict(groups)


def _names(ranks: Sequence[Placement]) -> str:
    return " and ".join(sorted({str(r.get("host")) for r in ranks}))


def oversubscribed(ranks: Sequence[Placement]) -> list[str]:
    """Why ranks must share CPUs, one sentence per reason; empty where each can have one of its own.

    Counted per physical machine: more ranks than CPUs allowed to them, and more ranks pinned inside a set of CPUs
    than the set has (two "hosts" that are one machine easily pin both their first ranks to CPU 0).
    """
    reasons: list[str] = []
    for group in _machines(ranks).values():
        sets = {frozenset(r.get("affinity", ())) for r in group} - {frozenset()}
        union = frozenset().union(*sets) if sets else frozenset()
        if union and len(group) > len(union):
            reasons.append(f"{len(group)} ranks on {len(union)} CPUs of {_names(group)}")
        for cpus in sorted(sets - {union}, key=sorted):
            inside = [r for r in group if r.get("affinity") and cpus.issuperset(r["affinity"])]
            if len(inside) > len(cpus):
                which = ", ".join(str(r["rank"]) for r in sorted(inside, key=lambda r: int(r["rank"])))
                reasons.append(f"ranks {which} pinned to CPU {_ranges(cpus)} of {_names(inside)}")
    return reasons


def notes(ranks: Sequence[Placement]) -> list[str]:
    """What a reader of the localities has to know: ranks that may move, hosts that are one machine."""
    found: list[str] = []
    loose = [r for r in ranks if not set(r.get("affinity", ())) <= {r.get("cpu"), *r.get("siblings", ())}]
    if loose:
        which = _ranges(int(r["rank"]) for r in loose)
        found.append(f"ranks {which} are not pinned to a core: their locality is as seen at the start")
    for group in _machines(ranks).values():
        hosts = {r.get("host") for r in group}
        if len(hosts) > 1:
            found.append(
                f"hosts {_names(group)} are one machine: their network is not a network between machines"
            )
    return found


def _ranges(numbers: Any) -> str:
    """`0-3,8`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
