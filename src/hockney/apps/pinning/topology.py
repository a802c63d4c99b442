"""The CPUs of one node and what they share: from this machine, a text, a file, or what the runner reports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from hockney import reading
from hockney.apps.pinning.answer import SeenHost
from hockney.errors import RequestError
from hockney.machine.system import load_system
from hockney.records.answers import RankPlace
from hockney.runner.inventory import placements

Level = Literal["package", "numa", "cache", "core"]
LEVELS: tuple[Level, ...] = ("package", "numa", "cache", "core")
"""Outermost first."""
MOST_CPUS = 1 << 16

_LEVEL_OF_WORD: dict[str, Level | Literal["thread"]] = {
    "package": "package",
    "pack": "package",
    "socket": "package",
    "numa": "numa",
    "cache": "cache",
    "l3": "cache",
    "core": "core",
    "thread": "thread",
    "pu": "thread",
}
_PART = re.compile(r"(\d{1,6})\s*([a-z]+[0-9]?)|([a-z]+[0-9]?)\s*:\s*(\d{1,6})")
_HINT = "write for example '2 packages x 2 numa x 4 cores x 2 threads', or give a file of `lscpu -p`"


@dataclass(frozen=True)
class NodeCpu:
    """A hardware thread by the operating system's number; `core` and the others tell whether two share one."""

    cpu: int
    core: int
    cache: int
    numa: int
    package: int


@dataclass(frozen=True)
class NodeTopology:
    """The CPUs of one node that may be used."""

    cpus: tuple[NodeCpu, ...]

    @cached_property
    def by_number(self) -> dict[int, NodeCpu]:
        """Each CPU by its number."""
        return {cpu.cpu: cpu for cpu in self.cpus}

    @cached_property
    def cores(self) -> list[tuple[int, ...]]:
        """CPUs of each core; cores that share more are nearer to each other in this order."""
        return [tuple(sorted(cpu.cpu for cpu in members)) for members in self.units("core")]

    def units(self, level: Level) -> list[list[NodeCpu]]:
        """The CPUs of each unit of a level, in the order of packages, then NUMA domains, caches, cores."""
        depth = LEVELS.index(level) + 1
        members: dict[tuple[int, ...], list[NodeCpu]] = {}
        first: dict[tuple[int, ...], int] = {}
        for cpu in self.cpus:
            key = tuple(getattr(cpu, name) for name in LEVELS[:depth])
            members.setdefault(key, []).append(cpu)
            for length in range(1, depth + 1):
                first[key[:length]] = min(cpu.cpu, first.get(key[:length], cpu.cpu))
        return [members[k] for k in sorted(members, key=lambda k: [first[k[: n + 1]] for n in range(depth)])]

    @cached_property
    def cache_numbers(self) -> dict[int, int]:
        """The number of the cache of each CPU, counted over the whole node."""
        return {cpu.cpu: number for number, unit in enumerate(self.units("cache")) for cpu in unit}

    def within(self, members: Iterable[NodeCpu]) -> NodeTopology:
        """Of these CPUs only."""
        return NodeTopology(tuple(members))

    def describe(self) -> str:
        """`2 packages x 2 numa x 4 cores x 2 threads`, or the mere counts where it is not regular."""
        counts = [len(self.units(level)) for level in LEVELS] + [len(self.cpus)]
        words = ("packages", "numa", "caches", "cores", "threads")
        ratios, before = [], 1
        for count, word in zip(counts, words, strict=True):
            if count % before:
                return ", ".join(f"{n} {w}" for n, w in zip(counts, words, strict=True))
            ratios.append(f"{count // before} {word}")
            before = count
        return " x ".join(ratios)


def here() -> NodeTopology:
    """The CPUs of this machine that this process may use."""
    return of_placements(placements())


def of_placements(places: Iterable[RankPlace]) -> NodeTopology:
    """From what `hockney.runner.inventory` reads of a machine."""
    return NodeTopology(
        tuple(
            NodeCpu(place.cpu, min(place.siblings), _last_cache(place), place.numa, place.package)
            for place in places
            if place.cpu is not None
        )
    )


def _last_cache(place: RankPlace) -> int:
    data = [cache for cache in place.caches if cache.type != "Instruction" and cache.shared]
    return min(max(data, key=lambda cache: cache.level).shared) if data else place.numa


def of_report(host: SeenHost) -> NodeTopology:
    """From the CPUs of a host as the program `pinning` reports them; empty on a simulated host."""
    return NodeTopology(tuple(NodeCpu(cpu.cpu, cpu.core, cpu.cache, cpu.numa, cpu.package) for cpu in host.cpus))


def parse(text: str) -> NodeTopology:
    """`2 packages x 2 numa x 4 cores x 2 threads`, or hwloc's `pack:2 numa:2 core:4 pu:2`; RequestError else.

    CPUs are numbered through: the threads of a core have successive numbers.
    """
    counts: dict[str, int] = {}
    rest = text.lower().strip()
    order = [*LEVELS, "thread"]
    while rest:
        match = _PART.match(rest)
        if not match:
            raise RequestError(f"topology {text!r} is not understood at {rest!r}", _HINT)
        number, word = (match[1], match[2]) if match[1] else (match[4], match[3])
        level = _LEVEL_OF_WORD.get(word) or _LEVEL_OF_WORD.get(word.removesuffix("s"))
        if level is None or int(number) < 1:
            raise RequestError(f"topology {text!r}: {match[0]!r} is no number of known parts", _HINT)
        if any(order.index(other) >= order.index(level) for other in counts):
            raise RequestError(f"topology {text!r}: {word} stands inside of what it holds", _HINT)
        counts[level] = int(number)
        rest = re.sub(r"^\s*([x×]\s*)?", "", rest[match.end() :])
    if "core" not in counts:
        raise RequestError(f"topology {text!r} has no cores", _HINT)
    return regular(*(counts.get(level, 1) for level in order))


def regular(packages: int, numa: int, caches: int, cores: int, threads: int = 1) -> NodeTopology:
    """Each count is inside of one unit of the level before; RequestError where there are too many."""
    total = packages * numa * caches * cores * threads
    if not 0 < total <= MOST_CPUS:
        raise RequestError(f"a node of {total} CPUs is none that is known", f"at most {MOST_CPUS}")
    cpus = []
    for cpu in range(total):
        core = cpu // threads
        cache = core // cores
        domain = cache // caches
        cpus.append(NodeCpu(cpu, core, cache, domain, domain // numa))
    return NodeTopology(tuple(cpus))


def read(given: str) -> NodeTopology:
    """From a file (`lscpu -p`, or a system file of this project) or the text itself; RequestError else."""
    path = Path(given)
    if not reading.is_file(path):
        if "/" in given or given.endswith((".json", ".txt", ".csv")):
            raise RequestError(f"{given} is no file", _HINT)
        return parse(given)
    text = reading.text(path, _HINT)
    if text.lstrip().startswith("{"):
        node = load_system(path).node
        return regular(node.packages, node.numa_per_package, node.caches_per_numa, node.cores_per_cache)
    return _lscpu(text, given) if "," in text else parse(text)


def _lscpu(text: str, name: str) -> NodeTopology:
    """`lscpu -p`: CPU, core, socket, node, then caches (lscpu(1)); the header says which columns there are."""
    columns = ["cpu", "core", "socket", "node"]
    rows: list[NodeCpu] = []
    for line in text.splitlines():
        if line.lower().startswith("# cpu,"):
            columns = re.split("[,:]", line.removeprefix("# ").lower())
        if line.startswith("#") or not line.strip():
            continue
        values = dict(zip(columns, re.split("[,:]", line.strip()), strict=False))
        numbers = {key: int(value) for key, value in values.items() if value.isdecimal()}
        if not {"cpu", "core"} <= set(numbers):
            raise RequestError(f"{name}: {line!r} is no line of `lscpu -p`", "make it with `lscpu -p`")
        numa = numbers.get("node", 0)
        cache = numbers.get("l3", numbers.get("l2", numa))
        rows.append(NodeCpu(numbers["cpu"], numbers["core"], cache, numa, numbers.get("socket", 0)))
    if not rows or len({row.cpu for row in rows}) < len(rows):
        raise RequestError(f"{name} has no CPUs, or one of them twice", "make it with `lscpu -p`")
    return NodeTopology(tuple(rows))
