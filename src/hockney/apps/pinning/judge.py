"""What the program `pinning` saw, and what is wrong with it: by itself, and against a plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from hockney.apps.pinning.answer import PinningAnswer, SeenRank, SeenThread
from hockney.apps.pinning.plan import PinningPlan
from hockney.machine.node_topology import NodeTopology
from hockney.units import first_of, grouped, in_ranges

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
    # Of a simulated host there are no CPUs. The first of those with one name counts.
    hosts = {host.host: (NodeTopology(tuple(host.cpus)), host.cores) for host in reversed(answer.hosts)}
    nodes = {name: node for name, (node, _) in hosts.items()}
    cores = {name: len(node.cores) if known is None else known for name, (node, known) in hosts.items()}
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
    against = _against(seen, plan) if plan else ()
    return [*against, *_oversubscribed(seen), *_shared(seen, plan), *_loose(seen, plan)]


def _oversubscribed(seen: Sight) -> Iterator[PinningFinding]:
    for host, members in grouped(seen.threads, lambda thread: thread.host).items():
        allowed = {cpu for thread in members for cpu in thread.allowed}
        have, what = (len(allowed), "CPUs that they may use") if allowed else (seen.cores[host], "cores")
        if len(members) > have > 0:
            text = f"{host} is oversubscribed: {len(members)} threads on {have} {what}"
            yield PinningFinding("oversubscribed", text)


def _shared(seen: Sight, plan: PinningPlan | None) -> Iterator[PinningFinding]:
    with_siblings = plan is None or plan.wish.bind_to == "core"
    # Hosts that are namespaces of one machine have its CPUs in common.
    for members in grouped(seen.threads, lambda thread: thread.machine).values():
        on_cpu = grouped([thread for thread in members if thread.cpu is not None], lambda thread: thread.cpu or 0)
        for cpu, sharing in sorted(on_cpu.items()):
            if len(sharing) > 1:
                text = f"threads {_names(sharing)} share CPU {cpu} of {sharing[0].host}"
                yield PinningFinding("shared_cpu", text)
        known = {number: cpu.core for number, cpu in seen.nodes[members[0].host].by_number.items()}
        core_of = {cpu: known.get(cpu, cpu) for cpu in sorted(on_cpu)}
        for cpus in grouped(core_of, core_of.__getitem__).values():
            sharing = [thread for thread in members if thread.cpu in cpus]
            if with_siblings and len(cpus) > 1:
                text = f"threads {_names(sharing)} share one core of {sharing[0].host}, CPUs {in_ranges(cpus)}"
                yield PinningFinding("shared_core", text)


def _loose(seen: Sight, plan: PinningPlan | None) -> Iterator[PinningFinding]:
    floating: dict[tuple[str, tuple[int, ...]], list[PlacedThread]] = defaultdict(list)
    for thread in seen.threads:
        node = seen.nodes[thread.host]
        cores = {node.by_number[cpu].core for cpu in thread.allowed if cpu in node.by_number}
        if len(cores) > 1:
            floating[thread.host, thread.allowed].append(thread)
        elif thread.migrations and (plan is None or plan.wish.bind_to == "hwthread"):
            where = f"CPUs {in_ranges(thread.cpus)} of its core"
            yield PinningFinding("moved", f"thread {thread.name} moved {thread.migrations} times between {where}")
    for (host, allowed), members in floating.items():
        moves = sum(thread.migrations for thread in members)
        moved = f", and moved {moves} times while seen" if moves else ""
        text = f"threads {_names(members)} may float over CPUs {in_ranges(allowed)} of {host}{moved}"
        yield PinningFinding("floating", text)


def _against(seen: Sight, plan: PinningPlan) -> Iterator[PinningFinding]:
    hosts: dict[int, str] = {}
    for rank, members in grouped(seen.threads, lambda thread: thread.rank).items():
        if len(members) != plan.wish.threads:
            why = "" if seen.openmp else "; the runner is without OpenMP"
            text = f"rank {rank} has {len(members)} threads, wished for {plan.wish.threads}{why}"
            yield PinningFinding("threads", text)
        planned = plan.cpus(rank)
        wrong = [thread for thread in members if not set(thread.cpus) <= set(planned)]
        if wrong:
            on = in_ranges(sorted({cpu for thread in wrong for cpu in thread.cpus}))
            text = f"threads {_names(wrong)} ran on CPUs {on}, planned for rank {rank}: {in_ranges(planned)}"
            yield PinningFinding("misplaced", text)
        if hosts.setdefault(plan.nodes[rank], members[0].host) != members[0].host:
            text = f"rank {rank} is on {members[0].host}, planned on {hosts[plan.nodes[rank]]} with others"
            yield PinningFinding("misplaced", text)
    if len(set(hosts.values())) < len(hosts):
        text = f"ranks planned on {len(hosts)} nodes are on {len(set(hosts.values()))}"
        yield PinningFinding("misplaced", text)


def _names(threads: Sequence[PlacedThread]) -> str:
    return first_of([thread.name for thread in threads], MOST_NAMED)
