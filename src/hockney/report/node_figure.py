"""A node as a drawing: nested rectangles of packages, NUMA domains, caches and cores, coloured by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hockney.machine.node_topology import LEVELS, Level, NodeTopology, of_description
from hockney.records.journal import LaunchLine
from hockney.report.drawing import Drawing, write_drawing
from hockney.report.style import QUIET, drawing_style

CPU_WIDTH, CPU_HEIGHT = 1.0, 0.8
GAP, TITLE = 0.15, 0.35
ROW = {"package": 1, "numa": 2, "cache": 4, "core": 8}
"""Units beside each other, by level; further ones lie below."""
INCH = 0.55
"""Of one unit of the drawing."""
_TITLES: dict[Level, str] = {"package": "package", "numa": "NUMA", "cache": "cache"}
_COLOURS = ("#9ecae9", "#f9c79a", "#a5d8b0", "#e6b8d0", "#d9d08f", "#c7c0e8", "#c9c9c9")
SHARED = "#d62728"
MOST_NODES, MOST_DRAWN = 2, 512
"""Nodes in a figure of a report, and CPUs of one."""
PAGE_WIDTH = 22.0
"""Of a figure of a report in widths of a CPU, so that small nodes are not drawn large."""
Occupants = Mapping[int, Sequence[str]]


@dataclass
class _Box:
    """A rectangle with others inside, whose places are relative to its lower left corner."""

    width: float
    height: float
    title: str = ""
    cpu: int | None = None
    inner: list[tuple[float, float, _Box]] = field(default_factory=list)


def _unit(node: NodeTopology, level: Level, caches: Mapping[int, int]) -> _Box:
    """The unit of that level that `node` is; `caches` has the number of each cache of the whole node by CPU."""
    inner = LEVELS[LEVELS.index(level) + 1 :]
    if not inner:
        cpus = sorted(node.by_number)
        box = _Box(CPU_WIDTH, CPU_HEIGHT * len(cpus))
        box.inner = [
            (0.0, CPU_HEIGHT * row, _Box(CPU_WIDTH, CPU_HEIGHT, cpu=cpu)) for row, cpu in enumerate(cpus[::-1])
        ]
        return box
    name = caches[node.cpus[0].cpu] if level == "cache" else getattr(node.cpus[0], level)
    box = _grid([_unit(node.within(unit), inner[0], caches) for unit in node.units(inner[0])], inner[0])
    box.title = f"{_TITLES[level]} {name}"
    return box


def _grid(boxes: Sequence[_Box], level: Level) -> _Box:
    rows = [boxes[at : at + ROW[level]] for at in range(0, len(boxes), ROW[level])]
    width = max(sum(box.width for box in row) + GAP * (len(row) + 1) for row in rows)
    height = sum(max(box.height for box in row) for row in rows) + GAP * (len(rows) + 1) + TITLE
    whole = _Box(width, height)
    top = height - TITLE
    for row in rows:
        tallest = max(box.height for box in row)
        left = GAP
        for box in row:
            whole.inner.append((left, top - GAP - tallest, box))
            left += box.width + GAP
        top -= tallest + GAP
    return whole


def drawing(nodes: Mapping[str, tuple[NodeTopology, Occupants]], least_width: float = 0.0) -> Figure:
    """One node below the other by name, each with the threads (`rank.thread`) on its CPUs; two on one are red.

    `least_width`, in widths of a CPU: narrower nodes leave the rest free.
    """
    boxes = {
        name: _grid(
            [_unit(node.within(unit), "package", node.cache_numbers) for unit in node.units("package")], "package"
        )
        for name, (node, _) in nodes.items()
    }
    width = max(least_width, *(box.width for box in boxes.values()))
    height = sum(box.height + GAP for box in boxes.values())
    with drawing_style():
        figure = Figure(figsize=(INCH * width, INCH * height))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, width)
        axes.set_ylim(0, height)
        axes.set_axis_off()
        top = height
        for name, box in boxes.items():
            box.title = name
            top -= box.height + GAP
            _draw(axes, 0.0, top, box, nodes[name][1])
    return figure


def _draw(axes: Axes, left: float, bottom: float, box: _Box, occupants: Occupants) -> None:
    if box.cpu is None:
        if box.title:
            axes.add_patch(Rectangle((left, bottom), box.width, box.height, fill=False, edgecolor=QUIET))
            axes.text(left + GAP, bottom + box.height - GAP, box.title, va="top", fontsize=8)
        for x, y, inner in box.inner:
            _draw(axes, left + x, bottom + y, inner, occupants)
        return
    names = occupants.get(box.cpu, ())
    colour = "white" if not names else _COLOURS[int(names[0].partition(".")[0]) % len(_COLOURS)]
    edge = SHARED if len(names) > 1 else QUIET
    axes.add_patch(
        Rectangle(
            (left, bottom),
            box.width,
            box.height,
            facecolor=colour,
            edgecolor=edge,
            linewidth=2 if names[1:] else 0.8,
        )
    )
    axes.text(left + 0.07, bottom + box.height - 0.07, str(box.cpu), va="top", fontsize=6, color=QUIET)
    shown = "\n".join(names[:3]) + (f"\n+{len(names) - 3}" if names[3:] else "")
    axes.text(left + box.width / 2, bottom + box.height / 2.4, shown, ha="center", va="center", fontsize=7)


def of_launches(launches: Sequence[LaunchLine]) -> Drawing | None:
    """The nodes of the first launch that describes any, its ranks on their CPUs; of those alike the first."""
    for launch in launches:
        nodes: dict[str, tuple[NodeTopology, Occupants]] = {}
        for node in launch.nodes[:MOST_NODES]:
            host, *alike = node.hosts
            on: dict[int, list[str]] = {}
            for rank in launch.ranks:
                if rank.host == host and rank.cpu is not None:
                    on.setdefault(rank.cpu, []).append(str(rank.rank))
            topology = of_description(node)
            if 0 < len(topology.cpus) <= MOST_DRAWN:
                more = f" (and {len(alike)} alike)" if alike else ""
                nodes[f"{host}{more}"] = (topology, on)
        if nodes:
            caption = (
                f"Packages, NUMA domains, last-level caches and cores of {', '.join(nodes)}; "
                "in a CPU its number and the ranks that began on it."
            )
            return Drawing("nodes", "Nodes", caption, caption, drawing(nodes, PAGE_WIDTH))
    return None


def write_figure(path: Path, nodes: Mapping[str, tuple[NodeTopology, Occupants]]) -> None:
    """Into `.svg`, `.png` or `.html`; RequestError for another ending or an unwritable place."""
    threads = sum(len(names) for _, occupants in nodes.values() for names in occupants.values())
    alt = f"{threads} threads on the CPUs of {', '.join(nodes)}, as rank.thread"
    write_drawing(path, lambda: Drawing("pinning", "Pinning", alt, alt, drawing(nodes)))
