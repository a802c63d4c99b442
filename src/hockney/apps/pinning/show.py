"""A plan, and what was seen of it, as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hockney.apps.pinning.judge import PinningFinding, Sight, line
from hockney.apps.pinning.picture import picture
from hockney.apps.pinning.plan import PinningPlan
from hockney.apps.pinning.recipes import Recipe
from hockney.machine.node_topology import NodeTopology
from hockney.records.nodes import cpu_ranges

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


def pictures(nodes: Mapping[str, tuple[NodeTopology, Mapping[int, Sequence[str]]]]) -> str:
    """All of them as text, each CPU with its threads as `rank.thread`."""
    return "\n".join(picture(name, node, on) for name, (node, on) in nodes.items())


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


def sight_text(seen: Sight, differences: Sequence[PinningFinding]) -> str:
    """A line for each thread, what was requested, the picture, and what is wrong."""
    rows = [line(thread) for thread in seen.threads]
    environment = ", ".join(f"{name}={value}" for name, value in seen.environment.items())
    rows.append(f"requested: {environment or 'nothing of OpenMP'}")
    for rank, cpus in {thread.rank: thread.launched for thread in seen.threads}.items():
        rows.append(f"rank {rank} launched with CPUs {cpu_ranges(cpus) or 'unknown'}")
    if not seen.openmp:
        rows.append("the runner was built without OpenMP: one thread in each rank")
    fine = "every thread has a core of its own and stays on it"
    if nodes := seen_nodes(seen):
        rows.append(pictures(nodes))
    else:
        fine = "the hosts are simulated, and none has more ranks than cores"
    rows += [f"! {finding.text}" for finding in differences] or [fine]
    return "\n".join(rows)
