"""A good bisection by local search: an upper bound of the minimum, and where to begin with proving it."""

from __future__ import annotations

import math
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from hockney.network.bisection.reduced import Reduced

PASSES = 12
"""The most passes of one start; a pass that finds nothing better ends it."""


def cut_off(graph: Reduced, side: NDArray[np.bool_]) -> tuple[float, NDArray[np.int64]] | None:
    """The least price of balancing `side` (v,) by nodes that are cut off, and how many of each vertex (v,).

    None where those that hang on the heavier side are too few.
    """
    on_side = int(graph.supply[side].sum())
    halves = (graph.allocated // 2, graph.allocated - graph.allocated // 2)
    best: tuple[float, NDArray[np.int64]] | None = None
    for half in halves:
        excess = on_side - half
        heavy = side if excess > 0 else ~side
        free = np.where(heavy, graph.held, 0)
        if abs(excess) > free.sum():
            continue
        cheapest = np.argsort(graph.price, kind="stable")
        before = np.cumsum(free[cheapest]) - free[cheapest]
        off = np.zeros(graph.vertices, np.int64)
        off[cheapest] = np.clip(abs(excess) - before, 0, free[cheapest])
        price = float(graph.price @ off)
        if best is None or price < best[0]:
            best = price, off
    return best


def edge_cut(graph: Reduced, side: NDArray[np.bool_]) -> float:
    """What the vertices' sides cut, without the nodes that are cut off."""
    return float(graph.weight[side][:, ~side].sum())


def search(
    graph: Reduced, starts: list[NDArray[np.float64]], time_limit_s: float = math.inf
) -> tuple[float, NDArray[np.bool_]]:
    """The best split found by refining one from each of `starts` (v,), an order to fill the first half in.

    A pass moves every vertex once, the best gain first (Fiduccia, Mattheyses 1982), and keeps the best split on
    its way. The time limit ends the pass that runs, and no other begins.
    """
    end_s = monotonic() + time_limit_s
    best: tuple[float, NDArray[np.bool_]] | None = None
    for order in starts:
        if best is not None and monotonic() > end_s:
            break
        split = _refined(graph, _prefix(graph, order), end_s)
        if split is not None and (best is None or split[0] < best[0]):
            best = split
    if best is None:
        raise ValueError("no start could be balanced")
    return best


def orders(graph: Reduced, seed: int, several: int) -> list[NDArray[np.float64]]:
    """Starts: as numbered, and breadth-first from random vertices, which keeps neighbours together."""
    random = np.random.default_rng(seed)
    starts = [np.arange(graph.vertices, dtype=float)]
    for vertex in random.integers(graph.vertices, size=several):
        visited = breadth_first_order(graph.weight, vertex, directed=False, return_predecessors=False)
        rank = np.empty(graph.vertices)
        rank[visited] = np.arange(graph.vertices)
        starts.append(rank)
    return starts


def _prefix(graph: Reduced, order: NDArray[np.float64]) -> NDArray[np.bool_]:
    along = np.argsort(order, kind="stable")
    filled = np.cumsum(graph.supply[along]) <= graph.allocated // 2
    side = np.ones(graph.vertices, bool)
    side[along[filled]] = False
    return side


def _refined(graph: Reduced, side: NDArray[np.bool_], end_s: float) -> tuple[float, NDArray[np.bool_]] | None:
    best: tuple[float, NDArray[np.bool_]] | None = None
    for _ in range(PASSES):
        split = _pass(graph, side if best is None else best[1], end_s)
        if split is None or (best is not None and split[0] >= best[0]):
            break
        best = split
        if monotonic() > end_s:
            break
    return best


def _pass(graph: Reduced, start: NDArray[np.bool_], end_s: float) -> tuple[float, NDArray[np.bool_]] | None:
    side = start.copy()
    weight, supply = graph.weight, graph.supply
    across = weight @ side.astype(float)
    total = np.asarray(weight.sum(axis=1)).ravel()
    # What a move of the vertex takes off the cut: what it has across minus what it has beside it.
    gain = np.where(side, total - 2 * across, 2 * across - total)
    cut, free = edge_cut(graph, side), np.ones(graph.vertices, bool)
    excess = 2 * int(supply[side].sum()) - graph.allocated
    slack = max(int(supply.max()), 1)
    best: tuple[float, NDArray[np.bool_]] | None = None

    def note() -> None:
        nonlocal best
        # Where nodes cannot be cut off, most splits on the way are unbalanced and need no closer look.
        if best is not None and cut >= best[0]:
            return
        balanced = cut_off(graph, side)
        if balanced is not None and (best is None or cut + balanced[0] < best[0]):
            best = cut + balanced[0], side.copy()

    note()
    for _ in range(graph.vertices):
        shift = np.where(side, -2, 2) * supply
        allowed = free & (np.abs(excess + shift) <= max(abs(excess), 2 * slack))
        if not allowed.any() or monotonic() > end_s:
            break
        vertex = int(np.argmax(np.where(allowed, gain, -np.inf)))
        free[vertex] = False
        excess += int(shift[vertex])
        cut -= float(gain[vertex])
        side[vertex] ^= True
        row = slice(weight.indptr[vertex], weight.indptr[vertex + 1])
        near, by = weight.indices[row], weight.data[row]
        gain[near] += np.where(side[near] == side[vertex], -2, 2) * by
        gain[vertex] = -gain[vertex]
        note()
    return best
