"""The minimum bisection of a tree, by dynamic programming over the nodes on each vertex's side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hockney.network.bisection.reduced import Reduced

MOST_CELLS = 2**28
"""The most cells of the tables of choices, 4 B each."""

_Table = NDArray[np.float64]


def is_tree(graph: Reduced) -> bool:
    """Whether the graph, which is connected, has no cycle, and its tables fit into memory."""
    return graph.weight.nnz == 2 * (graph.vertices - 1) and graph.vertices * graph.allocated <= MOST_CELLS


def split_tree(graph: Reduced) -> tuple[float, NDArray[np.bool_], NDArray[np.int64]]:
    """The least cut with half of the nodes on each side (rounded either way), its sides (v,), nodes cut off (v,).

    The table of a vertex gives the least cut of what is below it by the number of nodes on the vertex's own side;
    a child's table enters as it is or, for the price of the link, reversed. Time is O(n²), as usual for trees.
    """
    order, parent = sparse.csgraph.breadth_first_order(graph.weight, graph.vertices - 1, directed=False)
    tables = [_start(graph, vertex) for vertex in range(graph.vertices)]
    choices: list[NDArray[np.int32]] = [np.zeros(0, np.int32)] * graph.vertices
    flipped: list[NDArray[np.bool_]] = [np.zeros(0, bool)] * graph.vertices
    for vertex in order[:0:-1]:
        above = parent[vertex]
        other = graph.weight[vertex, above] + tables[vertex][::-1]
        # Of equal cuts, the one nearer to the root keeps more nodes together.
        flipped[vertex] = other <= tables[vertex]
        entering = np.minimum(tables[vertex], other)
        tables[above], choices[vertex] = _merged(tables[above], entering)
        tables[vertex] = np.zeros(0)
    root = tables[order[0]]
    half = graph.allocated // 2
    on_root_side = min(half, graph.allocated - half, key=lambda count: root[count])
    side = np.zeros(graph.vertices, bool)
    on_side = np.zeros(graph.vertices, np.int64)
    on_side[order[0]] = on_root_side
    # Children were merged last in order first, so they are taken off again in order.
    for vertex in order[1:]:
        above = parent[vertex]
        taken = int(choices[vertex][on_side[above]])
        on_side[above] -= taken
        flip = bool(flipped[vertex][taken])
        side[vertex] = side[above] ^ flip
        on_side[vertex] = len(flipped[vertex]) - 1 - taken if flip else taken
    return float(root[on_root_side]), side, graph.supply - on_side


def _start(graph: Reduced, vertex: int) -> _Table:
    own, held = int(graph.own[vertex]), int(graph.held[vertex])
    stay = np.arange(own + held + 1)
    return np.where(stay < own, np.inf, graph.price[vertex] * (own + held - stay))


def _merged(into: _Table, child: _Table) -> tuple[_Table, NDArray[np.int32]]:
    """Least sums by the number of both together, and how many of each are the child's."""
    best = np.full(len(into) + len(child) - 1, np.inf)
    taken = np.zeros(len(best), np.int32)
    if len(child) <= len(into):
        for count, cost in enumerate(child):
            _lower(best, taken, slice(count, count + len(into)), into + cost, np.full(len(into), count, np.int32))
    else:
        counts = np.arange(len(child), dtype=np.int32)
        for count, cost in enumerate(into):
            _lower(best, taken, slice(count, count + len(child)), child + cost, counts)
    return best, taken


def _lower(best: _Table, taken: NDArray[np.int32], at: slice, cost: _Table, counts: NDArray[np.int32]) -> None:
    better = cost < best[at]
    best[at][better] = cost[better]
    taken[at][better] = counts[better]
