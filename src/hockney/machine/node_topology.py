"""The CPUs of one node and what they share: packages, NUMA domains, last-level caches, cores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hockney.records.nodes import NodeDescription, parse_cpu_list

Level = Literal["package", "numa", "cache", "core"]
LEVELS: tuple[Level, ...] = ("package", "numa", "cache", "core")
"""Outermost first."""


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


def of_description(node: NodeDescription) -> NodeTopology:
    """Of all CPUs that a description names; a level that it does not tell is one for all."""
    data = [cache for cache in node.caches if cache.type != "Instruction"]
    last = max(data, key=lambda one: one.level).cpus if data else []
    cores, caches = (
        {cpu: min(members) for members in map(parse_cpu_list, lists) for cpu in members}
        for lists in (node.cores, last)
    )
    packages, domains = (_unit_of(lists) for lists in (node.packages, node.numa))
    return NodeTopology(
        tuple(
            NodeCpu(cpu, core, caches.get(cpu, domains.get(cpu, 0)), domains.get(cpu, 0), packages.get(cpu, 0))
            for cpu, core in sorted(cores.items())
        )
    )


def _unit_of(lists: Mapping[str, str]) -> dict[int, int]:
    return {cpu: int(unit) for unit, cpus in lists.items() for cpu in parse_cpu_list(cpus)}
