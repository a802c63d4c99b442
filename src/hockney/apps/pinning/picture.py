"""A node as nested boxes of text: packages, NUMA domains, caches, cores, and who runs on each CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.machine.node_topology import LEVELS, Level, NodeTopology

WIDTH = 110
_TITLES: dict[Level, str] = {"package": "package", "numa": "NUMA", "cache": "cache", "core": "core"}
Occupants = Mapping[int, Sequence[str]]
"""Names of the threads on each CPU, `rank.thread`."""


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
