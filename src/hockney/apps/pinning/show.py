"""A plan, and what was seen of it, as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hockney.apps.pinning.judge import PinningFinding, Sight, line
from hockney.apps.pinning.plan import PinningPlan
from hockney.apps.pinning.recipes import Recipe
from hockney.machine.node_topology import Level, NodeCpu, NodeTopology
from hockney.report.run_tables import Column, table
from hockney.report.tables import Table
from hockney.units import in_ranges

Nodes = dict[str, tuple[NodeTopology, dict[int, list[str]]]]
"""By name, each with the threads on its CPUs."""


def planned_nodes(plan: PinningPlan, hosts: Sequence[str] = ()) -> Nodes:
    """The nodes of a plan."""
    nodes: Nodes = {}
    for node in sorted(set(plan.nodes)):
        on: dict[int, list[str]] = defaultdict(list)
        for rank in (r for r, n in enumerate(plan.nodes) if n == node):
            for thread, place in enumerate(plan.places[rank]):
                for cpu in place:
                    on[cpu].append(f"{rank}.{thread}")
        nodes[hosts[node] if hosts else f"node {node}"] = (plan.topology, dict(on))
    return nodes


def seen_nodes(seen: Sight) -> Nodes:
    """The hosts whose CPUs are known, as they were seen."""
    nodes: Nodes = {name: (node, {}) for name, node in seen.nodes.items() if node.cpus}
    for thread in seen.threads:
        if thread.host in nodes and thread.cpu is not None:
            nodes[thread.host][1].setdefault(thread.cpu, []).append(thread.name)
    return nodes


def node_tables(nodes: Nodes) -> Iterator[Table]:
    """A row for each domain of a node, each CPU with its threads: `3:0.1` is CPU 3 with thread 1 of rank 0."""
    for name, (node, on) in nodes.items():
        # Of cores with a last-level cache each, a row for each says nothing.
        level: Level = "numa" if len(node.units("cache")) == len(node.cores) else "cache"
        columns: list[Column[list[NodeCpu]]] = [
            Column("package", lambda unit: str(unit[0].package)),
            Column("NUMA", lambda unit: str(unit[0].numa)),
            Column(
                "CPU:rank.thread",
                lambda unit, on=on: " ".join(  # type: ignore[misc]
                    f"{cpu.cpu}:{','.join(on.get(cpu.cpu, ()))}" for cpu in unit
                ),
                is_text=True,
            ),
        ]
        yield table(name, node.units(level), columns)


def recipe_text(recipes: Sequence[Recipe]) -> str:
    """One paragraph for each launcher."""
    parts = []
    for recipe in recipes:
        text = f"  cannot: {recipe.refused}" if recipe.refused else f"  {recipe.line}"
        if recipe.file:
            text += "\n  with the file ranks.txt:\n" + "\n".join(f"    {row}" for row in recipe.file.splitlines())
        if recipe.note:
            text += f"\n  note: {recipe.note}"
        parts.append(f"{recipe.title}:\n{text}")
    return "\n".join(parts)


def sight_text(seen: Sight, differences: Sequence[PinningFinding]) -> Iterator[str | Table]:
    """A line for each thread, what was requested, the nodes, and what is wrong."""
    yield from (line(thread) for thread in seen.threads)
    environment = ", ".join(f"{name}={value}" for name, value in seen.environment.items())
    yield f"requested: {environment or 'nothing of OpenMP'}"
    for rank, cpus in {thread.rank: thread.launched for thread in seen.threads}.items():
        yield f"rank {rank} launched with CPUs {in_ranges(cpus) or 'unknown'}"
    if not seen.openmp:
        yield "the runner was built without OpenMP: one thread in each rank"
    fine = "every thread has a core of its own and stays on it"
    if nodes := seen_nodes(seen):
        yield from node_tables(nodes)
    else:
        fine = "the hosts are simulated, and none has more ranks than cores"
    yield from [f"! {finding.text}" for finding in differences] or [fine]
