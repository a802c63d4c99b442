"""Figures of a schedule: its tree, its rounds, its space-time diagram."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from hockney import _core
from hockney._core import Direction, Kind, Schedule
from hockney.errors import RequestError
from hockney.predict.costs import TERMS, Costs, value
from hockney.records.keys import COLLECTIVES
from hockney.report.drawing import write_figure
from hockney.report.style import QUIET, drawing_style, time_unit
from hockney.schedule.catalogue import ScheduleRequest
from hockney.units import counted, format_bytes, format_time

MOST_RANKS = 128
MOST_MESSAGES = 20000
"""A figure with more is a black area."""

KIND_COLOURS = {Kind.send: "#0072B2", Kind.receive: "#D55E00", Kind.reduce: "#009E73", Kind.copy: "#CC79A7"}
KIND_WORDS = {
    Kind.send: "send overhead",
    Kind.receive: "receive overhead",
    Kind.reduce: "reduction",
    Kind.copy: "copy",
}


def draw(request: ScheduleRequest, style: str, costs: Costs | None = None) -> Figure:
    """Draw a schedule in one `style`: tree, steps or space-time. RequestError if it cannot be drawn.

    `costs` are those of messages between any two ranks; only space-time needs them.
    """
    if request.problem.ranks > MOST_RANKS:
        raise RequestError(
            f"{request.problem.ranks} ranks are too many for a figure", f"draw at most {MOST_RANKS} ranks"
        )
    schedule = request.generate()
    messages = sum(step.kind == Kind.send for rank_schedule in schedule for step in rank_schedule.steps)
    if messages > MOST_MESSAGES:
        raise RequestError(
            f"{messages} messages are too many for a figure", "draw fewer ranks or larger segments"
        )
    with drawing_style():
        if style == "tree":
            return _tree(request, schedule)
        if style == "steps":
            return _steps(request, schedule)
        if costs is None:
            raise RequestError(
                "a space-time diagram needs LogGP parameters",
                "give --machine, or --loggops L=2us,o=0.5us,g=1us,G=10GB/s",
            )
        return _space_time(request, schedule, costs)


def write(path: Path, figure: Figure, request: ScheduleRequest) -> None:
    """Write a picture as its ending says, with what it is of as the title; RequestError as `write_figure`."""
    write_figure(path, figure, _title(request))


def _title(request: ScheduleRequest) -> str:
    p = request.problem
    parts = [f"{request.algorithm.collective} {request.algorithm.name}, {counted(p.ranks, 'rank')}"]
    if p.bytes:
        parts.append(format_bytes(p.bytes))
    if p.segment_B:
        parts.append(f"segments of {format_bytes(p.segment_B)}")
    if p.root:
        parts.append(f"root {p.root}")
    return ", ".join(parts)


def _tree(request: ScheduleRequest, schedule: Schedule) -> Figure:
    """The first sender to each rank (bcast, scatter), or the last receiver from each rank (gather, reduce)."""
    name = request.algorithm.collective
    direction = COLLECTIVES[name].direction
    if direction == Direction.between_all:
        raise RequestError(f"{name} has no root, so there is no tree", "draw its steps")
    parents: dict[int, tuple[int, int]] = {}
    for move in sorted(_core.moves(schedule), key=lambda move: move.round):
        if direction == Direction.outward:
            parents.setdefault(move.receiver, (move.sender, move.round))
        else:
            parents[move.sender] = (move.receiver, move.round)
    root = request.problem.root
    parents.pop(root, None)
    children: dict[int, list[int]] = defaultdict(list)
    for rank, (parent, _) in sorted(parents.items(), key=lambda entry: entry[1][1]):
        children[parent].append(rank)
    place: dict[int, tuple[float, int]] = {}
    leaves = _lay_out(root, 0, children, place, 0)
    depth = max(level for _, level in place.values())
    figure = Figure(figsize=(max(3.2, 0.42 * leaves + 1.0), 0.75 * depth + 1.3), layout="constrained")
    axes = figure.subplots()
    for rank, (parent, round_) in parents.items():
        (x0, y0), (x1, y1) = place[parent], place[rank]
        axes.plot([x0, x1], [y0, y1], color=QUIET, linewidth=1.0, zorder=1)
        axes.annotate(
            str(round_ + 1),
            (0.38 * x0 + 0.62 * x1, 0.38 * y0 + 0.62 * y1),
            ha="center",
            va="center",
            fontsize=7,
            color="#D55E00",
            bbox={"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": "none"},
        )
    for rank, (x, y) in place.items():
        axes.plot(x, y, "o", markersize=15, color="#0072B2" if rank == root else "#56B4E9", zorder=2)
        axes.annotate(
            str(rank), (x, y), ha="center", va="center", fontsize=8, color="white" if rank == root else "black"
        )
    axes.invert_yaxis()
    axes.margins(0.5 / max(leaves, 1) + 0.02, 0.2)
    axes.set_axis_off()
    axes.set_title(f"{_title(request)}\nnumbers on the lines: the round")
    return figure


def _lay_out(
    root: int, first: int, children: Mapping[int, list[int]], place: dict[int, tuple[float, int]], level: int
) -> int:
    """Place leaves side by side and parents above the middle of their children; returns the number of leaves."""
    # Without recursion, since a pipeline is as deep as it has ranks.
    order, levels = [root], {root: level}
    for rank in order:
        for child in children.get(rank, ()):
            levels[child] = levels[rank] + 1
            order.append(child)
    widths: dict[int, int] = {}
    for rank in reversed(order):
        widths[rank] = sum(widths[child] for child in children.get(rank, ())) or 1
    starts = {root: first}
    for rank in order:
        start = starts[rank]
        for child in children.get(rank, ()):
            starts[child] = start
            start += widths[child]
        place[rank] = (starts[rank] + (widths[rank] - 1) / 2, levels[rank])
    return widths[root]


def _ranks_axis(figure: Figure, request: ScheduleRequest) -> None:
    axes = figure.axes[0]
    ranks = request.problem.ranks
    axes.set_ylim(ranks - 0.4, -0.6)
    every = max(1, ranks // 32)
    axes.set_yticks(range(0, ranks, every))
    axes.set_ylabel("rank")
    axes.set_title(_title(request))


def _height(ranks: int) -> float:
    return min(12.0, 1.1 + 0.3 * max(ranks, 3))


def _steps(request: ScheduleRequest, schedule: Schedule) -> Figure:
    """One column for each one-ported round, an arrow for each message."""
    moves = _core.moves(schedule)
    rounds = max((move.round for move in moves), default=-1) + 1
    figure = Figure(
        figsize=(min(16.0, 1.6 + 0.55 * max(rounds, 4)), _height(request.problem.ranks)), layout="constrained"
    )
    axes = figure.subplots()
    lengths = sorted({move.length_B for move in moves})
    for move in moves:
        colour = "#0072B2" if move.receiver > move.sender else "#D55E00"
        axes.annotate(
            "",
            xy=(move.round + 0.92, move.receiver),
            xytext=(move.round + 0.08, move.sender),
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0},
        )
    _ranks_axis(figure, request)
    axes.set_xlim(-0.1, max(rounds, 1) + 0.1)
    every = max(1, rounds // 24)
    axes.set_xticks([round_ + 0.5 for round_ in range(0, rounds, every)])
    axes.set_xticklabels([str(round_ + 1) for round_ in range(0, rounds, every)])
    sizes = f"; messages of {format_bytes(lengths[0])}" if lengths and lengths[-1] else ""
    if len(lengths) > 1:
        sizes += f" to {format_bytes(lengths[-1])}"
    axes.set_xlabel(f"round (one send and one receive at a time){sizes}")
    axes.legend(
        handles=[
            Line2D([], [], color="#0072B2", label="to a higher rank"),
            Line2D([], [], color="#D55E00", label="to a lower rank"),
        ],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
    )
    return figure


def _space_time(request: ScheduleRequest, schedule: Schedule, costs: Costs) -> Figure:
    """The activity of the processor of each rank over time, and the messages between ranks."""
    line = _core.timeline(schedule, costs.curves())
    end_s = max(line.finish_s, default=0.0)
    unit_s, unit = time_unit(end_s)
    figure = Figure(figsize=(9.0, _height(request.problem.ranks)), layout="constrained")
    axes = figure.subplots()
    boxes: dict[Kind, list[Rectangle]] = defaultdict(list)
    for rank, rank_schedule in enumerate(schedule):
        for index, step in enumerate(rank_schedule.steps):
            start, end = line.start_s[rank][index] / unit_s, line.end_s[rank][index] / unit_s
            boxes[step.kind].append(Rectangle((start, rank - 0.28), end - start, 0.56))
    transfer = costs.messages[0][TERMS.index("transfer")]

    def under_way_s(size_B: int) -> float:
        """Time from the sender's network interface to the receiver's: L + (m − 1)G."""
        return float(value(transfer, np.array([size_B], dtype=np.float64))[0])

    lines = [
        [
            ((arrival_s - under_way_s(step.target.length_B)) / unit_s, step.peer),
            (arrival_s / unit_s, rank),
        ]
        for rank, rank_schedule in enumerate(schedule)
        for step, arrival_s in zip(rank_schedule.steps, line.arrival_s[rank], strict=True)
        if step.kind == Kind.receive
    ]
    axes.add_collection(LineCollection(lines, colors="#444444", linewidths=0.7, zorder=1))
    for kind, patches in boxes.items():
        axes.add_collection(
            PatchCollection(patches, facecolor=KIND_COLOURS[kind], edgecolor="white", linewidth=0.5, zorder=2)
        )
    for rank, finish_s in enumerate(line.finish_s):
        axes.plot([finish_s / unit_s], [rank], marker="|", markersize=9, color="black", zorder=3)
    _ranks_axis(figure, request)
    axes.set_xlim(0, end_s / unit_s * 1.02 if end_s else 1)
    axes.set_xlabel(f"time in {unit} (LogGP); the last rank is done after {format_time(end_s)}")
    handles: list[Patch | Line2D] = [
        Patch(color=KIND_COLOURS[kind], label=KIND_WORDS[kind]) for kind in KIND_WORDS if kind in boxes
    ]
    handles.append(Line2D([], [], color="#444444", linewidth=0.7, label="message under way"))
    handles.append(Line2D([], [], color="black", marker="|", linestyle="none", label="rank is done"))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
