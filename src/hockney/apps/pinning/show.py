"""A plan, and what was seen of it, as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hockney.apps.pinning.judge import PinningFinding, Sight, line
from hockney.apps.pinning.plan import PinningPlan
from hockney.apps.pinning.recipes import Recipe
from hockney.machine.node_topology import LEVELS, Level, NodeTopology
from hockney.records.nodes import cpu_ranges

Nodes = dict[str, tuple[NodeTopology, dict[int, list[str]]]]
"""By name, each with the threads on its CPUs."""
WIDTH = 110
_TITLES: dict[Level, str] = {"package": "package", "numa": "NUMA", "cache": "cache", "core": "core"}
Occupants = Mapping[int, Sequence[str]]
"""Names of the threads on each CPU, `rank.thread`."""


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


def picture(title: str, node: NodeTopology, occupants: Occupants) -> str:
    """Lines of text; `3:0.1` is CPU 3 with thread 1 of rank 0, `3:` is free. A cell is a core."""
    cells = {cpu: f"{cpu}:{','.join(occupants.get(cpu, ()))}" for cpu in node.by_number}
    width = max(map(len, cells.values()), default=1)
    cells = {cpu: cell.ljust(width) for cpu, cell in cells.items()}
    return "\n".join([title, *_units(node, LEVELS, cells, node.cache_numbers, WIDTH)])


def _units(
    node: NodeTopology, levels: Sequence[Level], cells: Mapping[int, str], caches: Mapping[int, int], width: int
) -> list[str]:
    level, inner = levels[0], levels[1:]
    units = node.units(level)
    if not inner:
        return _wrapped([[" ".join(cells[cpu.cpu] for cpu in unit)] for unit in units], width, "│")
    if level == "cache" and all(len({cpu.core for cpu in unit}) == 1 for unit in units):
        # Each core has a last-level cache of its own: a box around each says nothing.
        return _units(node, inner, cells, caches, width)
    blocks = []
    for unit in units:
        name = caches[unit[0].cpu] if level == "cache" else getattr(unit[0], level)
        inside = _units(node.within(unit), inner, cells, caches, width - 4)
        blocks.append(_boxed(f"{_TITLES[level]} {name}", inside))
    return _wrapped(blocks, width, "")


def _boxed(title: str, lines: Sequence[str]) -> list[str]:
    width = max(len(title) + 2, *map(len, lines))
    head = f"┌ {title} ".ljust(width + 3, "─") + "┐"
    return [head, *(f"│ {line.ljust(width)} │" for line in lines), "└" + "─" * (width + 2) + "┘"]


def _wrapped(blocks: Sequence[Sequence[str]], width: int, between: str) -> list[str]:
    """Blocks beside each other as far as the width goes, then below."""
    rows: list[list[Sequence[str]]] = [[]]
    for block in blocks:
        used = sum(len(other[0]) + len(between) + 1 for other in rows[-1])
        if rows[-1] and used + len(block[0]) > width:
            rows.append([])
        rows[-1].append(block)
    return [line for row in rows for line in _beside(row, f"{between} " if between else " ")]


def _beside(blocks: Sequence[Sequence[str]], between: str) -> list[str]:
    height = max(map(len, blocks))
    padded = [[*block, *[" " * len(block[0])] * (height - len(block))] for block in blocks]
    return [between.join(parts) for parts in zip(*padded, strict=True)]
