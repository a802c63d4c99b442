"""Places of the vertices of a network in a figure, and groups of vertices that are drawn as one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hockney.network.topologies.base import Network
from hockney.units import counted

MOST_NODES = 200
"""Most nodes drawn one by one; of more, the nodes of a switch or a block are one bar."""
MOST_LINES = 1500
MOST_POINTS = 4096
MOST_CUBES = 256

_Places = NDArray[np.float64]


@dataclass(frozen=True)
class NetworkLayout:
    """`group` (vertices,) is the drawn vertex of each vertex, `place` (drawn, 2) holds their coordinates.

    `note` says what is left out.
    """

    group: NDArray[np.int64]
    place: _Places
    note: str = ""
    period: tuple[float, float] | None = None
    """Extents of a torus's panel: a link around it is drawn as two stubs."""
    panel: NDArray[np.int64] | None = None
    """(drawn,): links between different panels are not drawn."""
    is_equal: bool = True
    """Both axes have one scale."""


def lay_out(network: Network) -> NetworkLayout:
    """The layout that suits the topology."""
    makers: dict[str, Callable[[Network], NetworkLayout]] = {
        "torus": _torus,
        "hypercube": _hypercube,
        "dragonfly": _dragonfly,
    }
    if network.kind in makers:
        return makers[network.kind](network)
    return _levels(network) if network.switches else _stress(network)


def _levels(network: Network) -> NetworkLayout:
    """Nodes below, switches above them at their level, or at their distance from the next node."""
    group, notes = np.arange(network.vertices), []
    level = network.level
    if (level < 0).any():
        far = sparse.csgraph.dijkstra(
            network.matrix(network.parallel), unweighted=True, indices=np.arange(network.nodes), min_only=True
        )
        level = far.astype(np.int64)
    a, b = network.ends.T
    if network.nodes > MOST_NODES:
        # A node's bar is below the first switch it is linked to.
        holder = np.full(network.vertices, network.vertices)
        np.minimum.at(holder, np.minimum(a, b), np.maximum(a, b))
        group[: network.nodes] = _first_of_each(holder[: network.nodes])
        notes.append("a bar stands for the nodes of a switch, a line for all links between two ends")
    if network.alike is not None and len(np.unique(group[network.ends], axis=0)) > MOST_LINES:
        switches = slice(network.nodes, None)
        group[switches] = network.nodes + _first_of_each(network.alike[switches])
        notes.append("switches that act as one are drawn as one")
    kept, group = np.unique(group, return_inverse=True)
    level = level[kept]
    place = np.zeros((len(kept), 2))
    top = int(level.max())
    width = float(max(np.bincount(level).max() - 1, 1))
    for height in range(top + 1):
        of = np.flatnonzero(level == height)
        if height:
            x = _above(group[network.ends], place, level, of, height)
            of = of[np.argsort(x, kind="stable")]
            x = np.sort(x)
            even = np.linspace(0, width, len(of) + 2)[1:-1]
            # Vertices that would touch share the whole width instead.
            place[of, 0] = x if len(of) == 1 or np.diff(x).min() > 0.3 * width / len(of) else even
        else:
            place[of, 0] = np.linspace(0, width, len(of)) if len(of) > 1 else width / 2
        place[of, 1] = height
    return NetworkLayout(group, place, "; ".join(notes), is_equal=False)


def _first_of_each(values: NDArray[np.int64]) -> NDArray[np.int64]:
    _, first, index = np.unique(values, return_index=True, return_inverse=True)
    return first[index]


def _above(
    ends: NDArray[np.int64], place: _Places, level: NDArray[np.int64], of: NDArray[np.int64], height: int
) -> NDArray[np.float64]:
    """The mean abscissa of the vertices one level below that each vertex is linked to."""
    total, count = np.zeros(len(place)), np.zeros(len(place))
    for lower, upper in (ends.T, ends.T[::-1]):
        fits = (level[upper] == height) & (level[lower] == height - 1)
        np.add.at(total, upper[fits], place[lower[fits], 0])
        np.add.at(count, upper[fits], 1)
    return total[of] / np.maximum(count[of], 1)


def _torus(network: Network) -> NetworkLayout:
    """Slices of the two largest extents, one panel for each combination of the other coordinates."""
    shape = network.shape
    number = np.arange(network.nodes)
    coordinates = np.stack(np.unravel_index(number, shape), -1)
    by_size = sorted(range(len(shape)), key=lambda axis: -shape[axis])
    across, down = by_size[0], by_size[1] if len(shape) > 1 else None
    width, height = shape[across], shape[down] if down is not None else 1
    others = [axis for axis in range(len(shape)) if axis not in (across, down)]
    panels = math.prod(shape[axis] for axis in others)
    panel = np.zeros(network.nodes, np.int64)
    for axis in others:
        panel = panel * shape[axis] + coordinates[:, axis]
    notes = []
    slices = panels
    if network.nodes > MOST_POINTS:
        slices = max(1, MOST_POINTS // (width * height))
        notes.append(f"the first {slices} of {panels} slices")
    if panels > 1:
        notes.append("links between slices are not drawn")
    columns = max(1, round(math.sqrt(slices * height / width)))
    x = coordinates[:, across] + panel % columns * (width + 1.6)
    y = -((coordinates[:, down] if down is not None else 0) + panel // columns * (height + 1.6))
    place = np.stack([x, y], -1).astype(float)
    place[panel >= slices] = np.nan
    return NetworkLayout(number, place, "; ".join(notes), (width, height), panel, is_equal=len(shape) > 1)


def _hypercube(network: Network) -> NetworkLayout:
    """Squares in cubes, cubes in rows, columns and depths of cubes, each at a larger scale."""
    dimension = network.nodes.bit_length() - 1
    folded = max(0, dimension - int(math.log2(MOST_CUBES)))
    group = np.arange(network.nodes) >> folded
    drawn = np.arange(network.nodes >> folded)
    place = np.zeros((len(drawn), 2))
    for bit in range(dimension - folded):
        turn, axis = divmod(bit, 3)
        x, y = np.array([(1.0, 0.0), (0.0, 1.0), (0.42, 0.31)][axis]) * 2.3**turn
        # Turned a little, so that no line covers another.
        tilt = 0.13 * turn
        step = np.array([x * math.cos(tilt) - y * math.sin(tilt), x * math.sin(tilt) + y * math.cos(tilt)])
        place += (drawn >> bit & 1)[:, None] * step
    note = f"a point stands for a subcube of {2**folded} nodes" if folded else ""
    return NetworkLayout(group, place, note)


def _dragonfly(network: Network) -> NetworkLayout:
    """Groups on a circle, the routers of each on a small one, their nodes outside of it."""
    about = network.attributes
    groups, routers, per_router = (
        int(str(about[name])) for name in ("groups", "routers_per_group", "nodes_per_router")
    )
    number = np.arange(network.vertices)
    fold_routers = groups * routers > MOST_NODES
    router = np.where(number < network.nodes, number // per_router, number - network.nodes)
    circle = 2 * np.pi * np.arange(groups) / groups + np.pi / 2
    # As large as the neighbours on the circle allow.
    small = 0.0 if fold_routers else 0.62 * np.sin(np.pi / max(groups, 3))
    middle = np.stack([np.cos(circle), np.sin(circle)], -1)
    if fold_routers:
        note = f"a point stands for a group of {routers} routers and {routers * per_router} nodes"
        return NetworkLayout(router // routers, middle, note)
    turn = circle[:, None] + 2 * np.pi * np.arange(routers) / routers
    at = middle[:, None] + small * np.stack([np.cos(turn), np.sin(turn)], -1)
    at = at.reshape(-1, 2)
    if network.nodes > MOST_NODES:
        return NetworkLayout(router, at, f"a point stands for a router and its {counted(per_router, 'node')}")
    spread = (np.arange(per_router) - (per_router - 1) / 2) * min(0.9, 4.5 / routers) / max(per_router, 1)
    angle = turn.reshape(-1)[:, None] + spread
    node = middle.repeat(routers, 0)[:, None] + 1.42 * small * np.stack([np.cos(angle), np.sin(angle)], -1)
    return NetworkLayout(number, np.concatenate([node.reshape(-1, 2), at]))


def _stress(network: Network) -> NetworkLayout:
    """Distances in the figure close to those in the graph (SMACOF, de Leeuw 1977)."""
    if network.nodes > MOST_NODES * 2:
        turn = 2 * np.pi * np.arange(network.nodes) / network.nodes
        return NetworkLayout(
            np.arange(network.nodes), np.stack([np.cos(turn), np.sin(turn)], -1), "nodes in their order"
        )
    hops = sparse.csgraph.dijkstra(network.matrix(network.parallel), unweighted=True)
    count = network.nodes
    turn = 2 * np.pi * np.arange(count) / count
    place = np.stack([np.cos(turn), np.sin(turn)], -1) * hops.max() / 2
    for _ in range(150):
        apart = np.linalg.norm(place[:, None] - place, axis=-1)
        ratio = -np.divide(hops, apart, out=np.zeros_like(hops), where=apart > 0)
        np.fill_diagonal(ratio, 0)
        np.fill_diagonal(ratio, -ratio.sum(1))
        place = ratio @ place / count
    return NetworkLayout(np.arange(count), place)
