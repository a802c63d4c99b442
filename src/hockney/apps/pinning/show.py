"""A plan, and what was seen of it, as data and as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from hockney.apps.pinning.judge import Finding, Seen, Sight, line
from hockney.apps.pinning.picture import picture
from hockney.apps.pinning.plan import Plan
from hockney.apps.pinning.recipes import Recipe
from hockney.apps.pinning.topology import NodeTopology
from hockney.report.provenance import cpu_ranges

Nodes = dict[str, tuple[NodeTopology, dict[int, list[str]]]]
"""By name, each with the threads on its CPUs."""


def planned_nodes(plan: Plan, hosts: Sequence[str] = ()) -> Nodes:
    """The nodes of a plan."""
    found: Nodes = {}
    for node in sorted(set(plan.nodes)):
        on: dict[int, list[str]] = defaultdict(list)
        for rank in (r for r, n in enumerate(plan.nodes) if n == node):
            for thread, place in enumerate(plan.places[rank]):
                for cpu in place:
                    on[cpu].append(f"{rank}.{thread}")
        found[hosts[node] if hosts else f"node {node}"] = (plan.topology, dict(on))
    return found


def seen_nodes(seen: Sight) -> Nodes:
    """The hosts whose CPUs are known, as they were seen."""
    found: Nodes = {name: (node, {}) for name, node in seen.nodes.items() if node.cpus}
    for one in seen.threads:
        if one.host in found and one.cpu is not None:
            found[one.host][1].setdefault(one.cpu, []).append(one.name)
    return found


def pictures(nodes: Mapping[str, tuple[NodeTopology, Mapping[int, Sequence[str]]]]) -> str:
    """All of them as text, each CPU with its threads as `rank.thread`."""
    return "\n".join(picture(name, node, on) for name, (node, on) in nodes.items())


def plan_data(plan: Plan) -> dict[str, Any]:
    """Of a plan."""
    wish = plan.wish
    return {
        "wish": {"ranks": wish.ranks, "threads": wish.threads, "spread": wish.spread, "nodes": wish.nodes},
        "topology": plan.topology.describe(),
        "ranks": [
            {"rank": rank, "node": plan.nodes[rank], "threads": [list(place) for place in plan.places[rank]]}
            for rank in range(wish.ranks)
        ],
    }


def recipe_data(one: Recipe) -> dict[str, Any]:
    """Of a recipe."""
    return {
        "launcher": one.target,
        "title": one.title,
        "argv": list(one.argv),
        "environment": one.environment,
        "file": one.file,
        "refused": one.refused,
    }


def recipe_text(recipes: Sequence[Recipe]) -> str:
    """One paragraph for each launcher."""
    parts = []
    for one in recipes:
        text = f"  cannot: {one.refused}" if one.refused else f"  {one.line}"
        if one.file:
            text += "\n  with the file ranks.txt:\n" + "\n".join(f"    {row}" for row in one.file.splitlines())
        parts.append(f"{one.title}:\n{text}")
    return "\n".join(parts)


def sight_data(seen: Sight, found: Sequence[Finding]) -> dict[str, Any]:
    """Of what was seen and what is wrong with it."""
    return {
        "openmp": seen.openmp,
        "environment": seen.environment,
        "lines": [line(one) for one in seen.threads],
        "threads": [_thread_data(one) for one in seen.threads],
        "findings": [{"kind": one.kind, "text": one.text} for one in found],
    }


def _thread_data(one: Seen) -> dict[str, Any]:
    return {
        "rank": one.rank,
        "thread": one.thread,
        "host": one.host,
        "launched": list(one.launched),
        "allowed": list(one.allowed),
        "cpu": one.cpu,
        "cpus": list(one.cpus),
        "migrations": one.migrations,
        "share": one.share,
    }


def sight_text(seen: Sight, found: Sequence[Finding]) -> str:
    """A line for each thread, what was requested, the picture, and what is wrong."""
    rows = [line(one) for one in seen.threads]
    asked = ", ".join(f"{name}={value}" for name, value in seen.environment.items())
    rows.append(f"requested: {asked or 'nothing of OpenMP'}")
    for rank, cpus in {one.rank: one.launched for one in seen.threads}.items():
        rows.append(f"rank {rank} launched with CPUs {cpu_ranges(cpus) or 'unknown'}")
    if not seen.openmp:
        rows.append("the runner was built without OpenMP: one thread in each rank")
    fine = "every thread has a core of its own and stays on it"
    if nodes := seen_nodes(seen):
        rows.append(pictures(nodes))
    else:
        fine = "the hosts are simulated, and none has more ranks than cores"
    rows += [f"! {one.text}" for one in found] or [fine]
    return "\n".join(rows)
