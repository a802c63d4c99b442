"""What the program `pinning` saw, and what is wrong with it: by itself, and against a plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Literal

from pydantic import Field

from hockney.apps.pinning.answer import PinningAnswer, SeenRank, SeenThread
from hockney.apps.pinning.plan import PinningPlan
from hockney.apps.pinning.topology import of_report
from hockney.machine.node_topology import NodeTopology
from hockney.records.nodes import cpu_ranges
from hockney.words import grouped

Kind = Literal["shared_cpu", "shared_core", "oversubscribed", "floating", "moved", "threads", "misplaced"]
MOST_NAMED = 8
"""Names in one sentence."""


@dataclass(frozen=True)
class PlacedThread:
    """One thread: the CPUs it was launched with (its rank), may use, and was seen on; most often on `cpu`."""

    rank: int
    thread: int
    host: str
    machine: Annotated[str, Field(exclude=True)]
    launched: tuple[int, ...]
    allowed: tuple[int, ...]
    cpus: tuple[int, ...]
    cpu: int | None
    migrations: int
    share: float | None
    """Of a processor, while it worked."""

    @property
    def name(self) -> str:
        """`0.1`: thread 1 of rank 0."""
        return f"{self.rank}.{self.thread}"


@dataclass(frozen=True)
class PinningFinding:
    """One sentence about threads that are not as they should be."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Sight:
    """All threads in order, and each host's CPUs; none of those where the host is simulated."""

    threads: tuple[PlacedThread, ...]
    nodes: dict[str, NodeTopology]
    cores: dict[str, int]
    environment: dict[str, str]
    openmp: bool


def sight(answer: PinningAnswer) -> Sight:
    """The answer of the program, in words of this module."""
    threads = [_seen(rank, thread) for rank in answer.ranks for thread in rank.threads]
    nodes: dict[str, NodeTopology] = {}
    cores: dict[str, int] = {}
    for host in answer.hosts:
        nodes.setdefault(host.host, of_report(host))
        cores.setdefault(host.host, len(nodes[host.host].cores) if host.cores is None else host.cores)
    return Sight(tuple(threads), nodes, cores, answer.ranks[0].environment, answer.openmp)


def _seen(rank: SeenRank, thread: SeenThread) -> PlacedThread:
    looks = dict(zip(thread.cpus, thread.looks, strict=True))
    return PlacedThread(
        rank=rank.rank,
        thread=thread.thread,
        host=rank.host,
        machine=rank.machine,
        launched=tuple(rank.launched),
        allowed=tuple(thread.allowed),
        cpus=tuple(thread.cpus),
        cpu=max(looks, key=lambda cpu: (looks[cpu], -cpu)) if looks else None,
        migrations=thread.migrations,
        share=thread.processor_s / thread.passed_s if thread.passed_s else None,
    )


def line(thread: PlacedThread) -> str:
    """What is printed of one thread."""
    return f"rank={thread.rank}; thread={thread.thread}; cpu id={'none' if thread.cpu is None else thread.cpu}"


def findings(seen: Sight, plan: PinningPlan | None = None) -> list[PinningFinding]:
    """What is wrong, the worst first; empty where every thread has a core of its own and stays there.

    Hardware threads of one core count as shared, unless the plan uses them.
    """
    unplanned = _oversubscribed(seen) + _shared(seen, plan) + _loose(seen, plan)
    return [*_against(seen, plan), *unplanned] if plan else unplanned


def _oversubscribed(seen: Sight) -> list[PinningFinding]:
    findings = []
    for host, members in grouped(seen.threads, lambda thread: thread.host).items():
        allowed = {cpu for thread in members for cpu in thread.allowed}
        have, what = (len(allowed), "CPUs that they may use") if allowed else (seen.cores[host], "cores")
        if len(members) > have > 0:
            text = f"{host} is oversubscribed: {len(members)} threads on {have} {what}"
            findings.append(PinningFinding("oversubscribed", text))
    return findings


def _shared(seen: Sight, plan: PinningPlan | None) -> list[PinningFinding]:
    findings = []
    with_siblings = plan is None or plan.wish.bind_to == "core"
    # Hosts that are namespaces of one machine have its CPUs in common.
    for members in grouped(seen.threads, lambda thread: thread.machine).values():
        on_cpu = grouped([thread for thread in members if thread.cpu is not None], lambda thread: thread.cpu or 0)
        for cpu, sharing in sorted(on_cpu.items()):
            if len(sharing) > 1:
                text = f"threads {_names(sharing)} share CPU {cpu} of {sharing[0].host}"
                findings.append(PinningFinding("shared_cpu", text))
        known = {number: cpu.core for number, cpu in seen.nodes[members[0].host].by_number.items()}
        core_of = {cpu: known.get(cpu, cpu) for cpu in on_cpu}
        for cpus in map(sorted, grouped(on_cpu, core_of.__getitem__).values()):
            sharing = [thread for thread in members if thread.cpu in cpus]
            if with_siblings and len(cpus) > 1:
                text = f"threads {_names(sharing)} share one core of {sharing[0].host}, CPUs {cpu_ranges(cpus)}"
                findings.append(PinningFinding("shared_core", text))
    return findings


def _loose(seen: Sight, plan: PinningPlan | None) -> list[PinningFinding]:
    floating: dict[tuple[str, tuple[int, ...]], list[PlacedThread]] = defaultdict(list)
    findings = []
    for thread in seen.threads:
        node = seen.nodes[thread.host]
        cores = {node.by_number[cpu].core for cpu in thread.allowed if cpu in node.by_number}
        if len(cores) > 1:
            floating[thread.host, thread.allowed].append(thread)
        elif thread.migrations and (plan is None or plan.wish.bind_to == "hwthread"):
            where = f"CPUs {cpu_ranges(thread.cpus)} of its core"
            text = f"thread {thread.name} moved {thread.migrations} times between {where}"
            findings.append(PinningFinding("moved", text))
    for (host, allowed), members in floating.items():
        moves = sum(thread.migrations for thread in members)
        moved = f", and moved {moves} times while seen" if moves else ""
        text = f"threads {_names(members)} may float over CPUs {cpu_ranges(allowed)} of {host}{moved}"
        findings.append(PinningFinding("floating", text))
    return findings


def _against(seen: Sight, plan: PinningPlan) -> list[PinningFinding]:
    findings = []
    hosts: dict[int, str] = {}
    for rank, group in groupby(seen.threads, key=lambda thread: thread.rank):
        members = list(group)
        if len(members) != plan.wish.threads:
            text = f"rank {rank} has {len(members)} threads, wished for {plan.wish.threads}"
            findings.append(
                PinningFinding("threads", text + ("" if seen.openmp else "; the runner is without OpenMP"))
            )
        planned = plan.cpus(rank)
        wrong = [thread for thread in members if not set(thread.cpus) <= set(planned)]
        if wrong:
            on = cpu_ranges(sorted({cpu for thread in wrong for cpu in thread.cpus}))
            text = f"threads {_names(wrong)} ran on CPUs {on}, planned for rank {rank}: {cpu_ranges(planned)}"
            findings.append(PinningFinding("misplaced", text))
        if hosts.setdefault(plan.nodes[rank], members[0].host) != members[0].host:
            text = f"rank {rank} is on {members[0].host}, planned on {hosts[plan.nodes[rank]]} with others"
            findings.append(PinningFinding("misplaced", text))
    if len(set(hosts.values())) < len(hosts):
        text = f"ranks planned on {len(hosts)} nodes are on {len(set(hosts.values()))}"
        findings.append(PinningFinding("misplaced", text))
    return findings


def _names(threads: Sequence[PlacedThread]) -> str:
    names = [thread.name for thread in threads]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
