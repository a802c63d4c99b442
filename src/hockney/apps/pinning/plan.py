"""From a wish to a plan: the CPUs that each thread of each rank is to have, on nodes of one topology."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated, Literal, get_args

from pydantic import Field, PlainSerializer, computed_field

from hockney.apps.pinning.topology import MOST_CPUS
from hockney.errors import RequestError
from hockney.machine.node_topology import LEVELS, Level, NodeTopology
from hockney.runner.launchers.base import MapBy
from hockney.units import counted, in_ranges, wholes

Spread = Literal["socket", "numa", "cache", "core", "node", "compact", "scatter", "list"]
SPREADS: tuple[Spread, ...] = get_args(Spread)[:-1]
"""The words of a wish; `list` is one that names CPUs."""
Block = tuple[tuple[int, ...], ...]
"""A rank's places: one for each of its threads, each the CPUs of a core, or a single CPU."""

_DEALT: dict[Spread, Level] = {"socket": "package", "numa": "numa", "cache": "cache"}
_MAP_BY: dict[Spread, MapBy] = {
    "socket": "socket",
    "numa": "numa",
    "cache": "cache",
    "core": "core",
    "node": "node",
    "compact": "hwthread",
    "scatter": "core",
    "list": "core",
}
_UNIT = {"package": "package", "numa": "NUMA domain", "cache": "last-level cache", "core": "core"}


@dataclass(frozen=True)
class PinningWish:
    """`ranks` of `threads` each. `socket`, `numa` and `cache` deal ranks round-robin to the units of that level.

    `core` puts them on consecutive cores, `compact` on consecutive hardware threads, `node` on the nodes in turn
    and there on consecutive cores. `scatter` keeps successive ranks as far from each other as can be: on
    different packages, then NUMA domains, then caches. `list` puts thread t of rank r on CPU `cpus[r T + t]`,
    the CPUs of each rank ascending.

    A rank's threads are on consecutive cores.
    """

    ranks: int
    threads: int
    spread: Spread
    nodes: int = 1
    cpus: tuple[int, ...] = ()

    @property
    def map_by(self) -> MapBy:
        """Its nearest word for launchers."""
        return _MAP_BY[self.spread]

    @property
    def bind_to(self) -> Literal["core", "hwthread"]:
        """What a thread has for itself."""
        return "hwthread" if self.by_cpu else "core"

    @property
    def by_cpu(self) -> bool:
        """Whether a thread needs a CPU, not a core."""
        return self.spread in ("compact", "list")


@dataclass(frozen=True)
class PlannedRank:
    """Where a rank's threads go: the CPUs of each."""

    rank: int
    node: int
    threads: Block


@dataclass(frozen=True)
class PinningPlan:
    """Where each rank is to be. `nodes` and `places` are by rank.

    `in_words` says whether launchers come to the same places by `map_by`: where all units are alike, and no
    rank would cross the end of one. Else the CPUs have to be listed.
    """

    wish: PinningWish
    topology: Annotated[NodeTopology, PlainSerializer(NodeTopology.describe, return_type=str)]
    nodes: Annotated[tuple[int, ...], Field(exclude=True)]
    places: Annotated[tuple[Block, ...], Field(exclude=True)]
    in_words: Annotated[bool, Field(exclude=True)]

    @computed_field
    @property
    def ranks(self) -> list[PlannedRank]:
        """The node and the places of each rank."""
        return [PlannedRank(rank, node, self.places[rank]) for rank, node in enumerate(self.nodes)]

    def cpus(self, rank: int) -> tuple[int, ...]:
        """All CPUs of a rank, ascending."""
        return tuple(sorted(cpu for place in self.places[rank] for cpu in place))

    def slots(self, rank: int) -> tuple[int, ...]:
        """Its places by number in the order of hwloc: of cores, or of hardware threads."""
        numbers = {slot: number for number, slot in enumerate(_slots(self.topology, self.wish))}
        return tuple(sorted(numbers[place] for place in self.places[rank]))

    @property
    def ppn(self) -> int:
        """Ranks on the fullest node."""
        return max(self.nodes.count(node) for node in set(self.nodes))


def wish(ranks: int, threads: int, spread: str, nodes: int = 1) -> PinningWish:
    """A checked wish; `spread` is a word or CPUs as `0,14`; RequestError for unknown words, counts below 1."""
    if min(ranks, threads, nodes) < 1:
        raise RequestError("a placement has at least one rank, thread and node", "ask for one or more of each")
    if spread[:1].isdecimal():
        return _listed(ranks, threads, spread, nodes)
    if spread not in SPREADS:
        raise RequestError(f"unknown spread {spread!r}", f"known: {', '.join(SPREADS)}, or CPUs such as 0,14")
    return PinningWish(ranks, threads, spread, nodes)


def _listed(ranks: int, threads: int, text: str, nodes: int) -> PinningWish:
    """A wish that names its CPUs; RequestError where they are not one for each thread, or of several nodes."""
    cpus = tuple(wholes(text, range(MOST_CPUS)))
    if nodes > 1:
        raise RequestError(f"--spread {text} names CPUs of one node, not of {nodes}", "name one host")
    if len(set(cpus)) < len(cpus):
        raise RequestError(f"--spread {text} names a CPU twice", "give each thread a CPU of its own")
    if len(cpus) != ranks * threads:
        raise RequestError(
            f"--spread {text} names {len(cpus)} CPUs for {counted(ranks, 'rank')} x {threads} threads",
            f"name {ranks * threads}: those of the threads of rank 0 first",
        )
    of_ranks = [cpus[at : at + threads] for at in range(0, len(cpus), threads)]
    if any(list(of_rank) != sorted(of_rank) for of_rank in of_ranks):
        raise RequestError(
            f"--spread {text} names CPUs of a rank out of order, which launchers and OpenMP do not keep",
            f"name those of each rank ascending: {','.join(str(cpu) for own in of_ranks for cpu in sorted(own))}",
        )
    return PinningWish(ranks, threads, "list", nodes, cpus=cpus)


def plan(topology: NodeTopology, wanted: PinningWish) -> PinningPlan:
    """The places of each rank; RequestError where some thread would have none of its own."""
    if wanted.nodes > wanted.ranks:
        raise RequestError(
            f"{wanted.ranks} ranks cannot be on {wanted.nodes} nodes", "name fewer hosts, or ask for more ranks"
        )
    nodes = _nodes(wanted)
    fullest = max(nodes.count(node) for node in set(nodes))
    if absent := [cpu for cpu in wanted.cpus if cpu not in topology.by_number]:
        raise RequestError(
            f"CPU {absent[0]} is not one of the {len(topology.cpus)} that may be used here",
            f"they are {in_ranges(topology.by_number)}",
        )
    blocks = _blocks(topology, wanted, fullest)
    if len(blocks) < fullest:
        raise RequestError(_refusal(topology, wanted, fullest, len(blocks)), _advice(topology, wanted, fullest))
    seen: dict[int, int] = {}
    places = []
    for node in nodes:
        places.append(blocks[seen.get(node, 0)])
        seen[node] = seen.get(node, 0) + 1
    return PinningPlan(wanted, topology, nodes, tuple(places), _is_in_words(topology, wanted))


def _nodes(wish: PinningWish) -> tuple[int, ...]:
    """The node of each rank: in turn for `node`, else equal parts in order, the first of them the larger ones."""
    if wish.spread == "node":
        return tuple(rank % wish.nodes for rank in range(wish.ranks))
    least, more = divmod(wish.ranks, wish.nodes)
    return tuple(n for n in range(wish.nodes) for _ in range(least + (n < more)))


def _slots(topology: NodeTopology, wish: PinningWish) -> list[tuple[int, ...]]:
    """What one thread needs, in the order of nearness."""
    return [(cpu,) for core in topology.cores for cpu in core] if wish.by_cpu else topology.cores


def _cut(slots: Sequence[tuple[int, ...]], threads: int) -> list[Block]:
    """Blocks of successive slots; what is left over stays free."""
    return [tuple(slots[at : at + threads]) for at in range(0, len(slots) - threads + 1, threads)]


def _blocks(topology: NodeTopology, wish: PinningWish, ranks: int) -> list[Block]:
    """Places for ranks of one node, in the order of the ranks; possibly fewer than asked for."""
    threads = wish.threads
    if wish.spread == "list":
        return _cut([(cpu,) for cpu in wish.cpus], threads)
    if level := _DEALT.get(wish.spread):
        units = [_slots(topology.within(unit), wish) for unit in topology.units(level)]
        return list(_dealt([_cut(unit, threads) for unit in units]))[:ranks]
    if wish.spread == "scatter":
        for depth in range(len(LEVELS), -1, -1):
            blocks = _scattered(topology, wish, LEVELS[:depth])
            if len(blocks) >= ranks:
                break
        return blocks[:ranks]
    packages = [_slots(topology.within(unit), wish) for unit in topology.units("package")]
    inside = [block for package in packages for block in _cut(package, threads)]
    # A rank in two packages is better than none.
    return (inside if len(inside) >= ranks else _cut(_slots(topology, wish), threads))[:ranks]


def _dealt(hands: Sequence[Sequence[Block]]) -> Iterator[Block]:
    """One of each in turn."""
    for round_ in zip_longest(*hands):
        yield from (block for block in round_ if block is not None)


def _scattered(topology: NodeTopology, wish: PinningWish, levels: Sequence[Level]) -> list[Block]:
    """Dealt to the units of the outermost level, inside of each in the same way; no rank lies in two of them."""
    if not levels:
        return _cut(_slots(topology, wish), wish.threads)
    parts = [topology.within(unit) for unit in topology.units(levels[0])]
    if all(len(part.cores) < wish.threads for part in parts):
        return _cut(_slots(topology, wish), wish.threads)
    return list(_dealt([_scattered(part, wish, levels[1:]) for part in parts]))


def _is_in_words(topology: NodeTopology, wish: PinningWish) -> bool:
    if wish.spread in ("scatter", "list"):
        return False
    level = _DEALT.get(wish.spread, "package")
    sizes = {len(_slots(topology.within(unit), wish)) for unit in topology.units(level)}
    # Where ranks are laid side by side, most launchers let them cross the end of a package.
    return len(sizes) == 1 and (wish.spread in _DEALT or sizes.pop() % wish.threads == 0)


def _refusal(topology: NodeTopology, wish: PinningWish, ranks: int, fit: int) -> str:
    what = "hardware thread" if wish.by_cpu else "core"
    have = len(_slots(topology, wish))
    need = ranks * wish.threads
    where = f" on each of {counted(wish.nodes, 'node')}" if wish.nodes > 1 else ""
    who = f"{counted(ranks, 'rank')} x {wish.threads} threads{where}"
    if need > have:
        return f"{who} need {need} {what}s of their own, and there are {have}"
    unit = _UNIT[_DEALT.get(wish.spread, "package")]
    return f"{who} do not fit: whole ranks inside of a {unit} leave room for {fit} only"


def _advice(topology: NodeTopology, wish: PinningWish, ranks: int) -> str:
    need, threads = ranks * wish.threads, len(topology.cpus)
    if need <= len(topology.cores):
        return "choose --spread core, which may put a rank across, or other numbers of ranks and threads"
    if wish.spread != "compact" and need <= threads:
        return "choose --spread compact, which uses the hardware threads of each core"
    return "ask for fewer ranks or threads, or name more --hosts"
