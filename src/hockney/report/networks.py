"""The figure of a network: its levels, grid or groups, the allocation, and the links that the bisection cuts."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from hockney.network.bisection.measure import NetworkMeasures
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.network_layouts import MOST_NODES, NetworkLayout, lay_out
from hockney.report.style import QUIET

HALVES = (("#0072B2", "o"), ("#E69F00", "s"))
"""Colour and marker of the allocated nodes of either half."""
OTHER, SWITCH, LINK, CUT = "#cfcfcf", "#444444", "#bdbdbd", "#D55E00"


def draw(measured: NetworkMeasures) -> Drawing:
    """Draw the nodes of either half, other nodes, switches and links; links that are cut stand out."""
    layout = lay_out(measured.network)
    place = layout.place
    width, height = np.nanmax(place, 0) - np.nanmin(place, 0)
    tall = WIDTH_IN * (height + 2) / (width + 2) if layout.is_equal else 1.4 + 1.5 * height
    figure = Figure(figsize=(WIDTH_IN, float(np.clip(tall, 3.0, 9.5)) + 0.7), layout="constrained")
    axes = figure.subplots()
    link, cut = _lines(axes, measured, layout)
    size = float(np.clip(1400 / len(place) ** 0.8, 5, 90))
    legend = _nodes(axes, measured, layout, size)
    legend += _switches(axes, measured, layout, size)
    legend.append(Line2D([], [], color=LINK, label=link))
    legend.append(Line2D([], [], color=CUT, linewidth=2.2, label=f"cut: {cut}"))
    axes.set_axis_off()
    if layout.is_equal:
        axes.set_aspect("equal")
    axes.margins(0.03, 0.08)
    title = _title(measured)
    figure.suptitle(title + (f"\n{layout.note}" if layout.note else ""), fontsize=9)
    figure.legend(handles=legend, loc="outside lower center", ncols=len(legend))
    return Drawing("network", title, f"{title}. {layout.note}", layout.note, figure)


def _title(measured: NetworkMeasures) -> str:
    network, width = measured.network, measured.width
    what = f"{network.kind.replace('_', ' ')}: {network.nodes} nodes, {network.switches} switches"
    of = "" if measured.is_whole else f" of {len(measured.allocation)} allocated nodes"
    links = f"{width.high:.0f}" if width.is_exact else f"between {width.low:.0f} and {width.high:.0f}"
    return f"{what}; bisection{of}: {links} {'link' if links == '1' else 'links'}"


def _lines(axes: Axes, measured: NetworkMeasures, layout: NetworkLayout) -> tuple[str, str]:
    """Draw the links between drawn vertices, one line for each pair.

    Returns in words how many links a line stands for, and how many are cut.
    """
    network = measured.network
    a, b = network.ends.T
    is_cut = measured.width.side[a] != measured.width.side[b]
    ends = np.sort(layout.group[network.ends], axis=1)
    visible = ends[:, 0] != ends[:, 1]
    if layout.panel is not None:
        visible &= layout.panel[ends[:, 0]] == layout.panel[ends[:, 1]]
    visible &= np.isfinite(layout.place[ends]).all((1, 2))
    pairs, index = np.unique(ends[visible], axis=0, return_inverse=True)
    index = index.ravel()
    links = np.bincount(index, network.parallel[visible], minlength=len(pairs))
    cut = np.bincount(index, (network.parallel * is_cut)[visible], minlength=len(pairs))
    wide = 0.5 + 0.35 * np.log2(np.maximum(links, 1))
    for chosen, colour, more, order in ((cut == 0, LINK, 0.0, 1), (cut > 0, CUT, 1.0, 2)):
        segments, of = _segments(layout, pairs[chosen])
        axes.add_collection(
            LineCollection(segments, colors=colour, linewidths=(wide[chosen] + more)[of], zorder=order)
        )
    total = int((network.parallel * is_cut).sum())
    # Links inside a bar and links between panels have no line.
    of_all = (
        f"{total} links" if int(cut.sum()) == total else f"{int(cut.sum())} of {total} links, others not drawn"
    )
    least, most = (int(links.min()), int(links.max())) if len(links) else (1, 1)
    if least < most:
        return f"{least} to {most} links: the wider the more", of_all
    return "link" if most == 1 else f"{most} links", of_all


def _segments(
    layout: NetworkLayout, pairs: NDArray[np.int64]
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Lines (2, 2), two stubs for a link around a torus, and the index of the pair that each belongs to."""
    start, end = layout.place[pairs[:, 0]], layout.place[pairs[:, 1]]
    number = np.arange(len(pairs))
    if layout.period is None:
        return list(np.stack([start, end], 1)), number
    around = (np.abs(end - start) > 1.5).any(1)
    out = np.sign(end - start)[around] * -0.6
    lines = [np.stack([start, end], 1)[~around]]
    lines += [np.stack([start[around], start[around] + out], 1), np.stack([end[around], end[around] - out], 1)]
    return list(np.concatenate(lines)), np.concatenate([number[~around], number[around], number[around]])


def _halves(measured: NetworkMeasures) -> list[NDArray[np.int64]]:
    """The allocated nodes of either half, that of the first node first; then all other nodes."""
    side = measured.width.side[measured.allocation]
    first = side == side[0]
    others = np.setdiff1d(np.arange(measured.network.nodes), measured.allocation)
    return [measured.allocation[first], measured.allocation[~first], others]


def _nodes(axes: Axes, measured: NetworkMeasures, layout: NetworkLayout, size: float) -> list[Line2D]:
    looks = [*HALVES, (OTHER, "o")]
    words = ["one half", "the other half", "not allocated"]
    sets = _halves(measured)
    drawn = len(layout.place)
    counts = np.stack([np.bincount(layout.group[nodes], minlength=drawn) for nodes in sets])
    single = counts.sum(0) == 1
    for (colour, marker), count in zip(looks, counts, strict=True):
        at = layout.place[single & (count == 1)]
        axes.scatter(at[:, 0], at[:, 1], s=size, c=colour, marker=marker, zorder=4, linewidths=0)
    bars = np.flatnonzero(counts.sum(0) > 1)
    if len(bars):
        _bars(axes, layout, bars, counts[:, bars])
    return [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=f"{word}: {len(nodes)} nodes")
        for (colour, marker), word, nodes in zip(looks, words, sets, strict=True)
        if len(nodes)
    ]


def _bars(axes: Axes, layout: NetworkLayout, bars: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """A bar for each drawn vertex that stands for several nodes, divided as the nodes are."""
    at = layout.place[bars]
    extent = np.ptp(layout.place, 0)
    apart = extent[0] / max(len(bars) - 1, 1) if not layout.is_equal else extent.max() / len(bars) ** 0.5 / 2
    wide = 0.8 * (apart or 1.0)
    high = 0.16 if not layout.is_equal else wide * 0.4
    total = counts.sum(0)
    left = at[:, 0] - wide / 2
    for count, colour in zip(counts, (HALVES[0][0], HALVES[1][0], OTHER), strict=True):
        part = wide * count / total
        rectangles = [
            Rectangle((x, y - high / 2), w, high) for x, y, w in zip(left, at[:, 1], part, strict=True) if w
        ]
        axes.add_collection(
            PatchCollection(rectangles, facecolor=colour, edgecolor="white", linewidth=0.2, zorder=4)
        )
        left = left + part
    if len(bars) <= 40 and not layout.is_equal:
        for (x, y), number in zip(at, total, strict=True):
            axes.text(x, y - 0.16, str(number), ha="center", va="top", fontsize=7, color=QUIET)


def _switches(axes: Axes, measured: NetworkMeasures, layout: NetworkLayout, size: float) -> list[Line2D]:
    network = measured.network
    drawn = np.setdiff1d(np.unique(layout.group[network.nodes :]), layout.group[: network.nodes])
    if not len(drawn):
        return []
    at = layout.place[drawn]
    axes.scatter(at[:, 0], at[:, 1], s=max(size, 14), c=SWITCH, marker="D", zorder=4, linewidths=0)
    members = np.bincount(layout.group[network.nodes :], minlength=len(layout.place))
    first = np.full(len(layout.place), -1)
    switches = np.arange(network.nodes, network.vertices)
    first[layout.group[switches[::-1]]] = switches[::-1]
    rows = np.unique(at[:, 1])
    for vertex, (x, y) in zip(drawn, at, strict=True):
        if layout.is_equal or np.count_nonzero(at[:, 1] == y) > 24 or network.vertices > MOST_NODES * 3:
            continue
        name = network.names[first[vertex]]
        text = name if members[vertex] == 1 else f"{members[vertex]} {name.partition(' ')[0]}s"
        up = y == rows[-1]
        axes.annotate(
            text, (x, y), (0 if up else 5, 6 if up else 3), textcoords="offset points", zorder=5,
            ha="center" if up else "left", va="bottom", fontsize=7, color=QUIET,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
        )  # fmt: skip
    return [Line2D([], [], color=SWITCH, marker="D", linestyle="none", label="switch")]
