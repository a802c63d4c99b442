"""Maps of ranks onto nodes: a pattern and an allocation of nodes in, the node of every rank out."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hockney.network.traffic.base import Allocated, Load
from hockney.network.traffic.boxes import box_of, boxes, fold
from hockney.network.traffic.curves import order
from hockney.network.traffic.patterns.base import Pattern
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.study import rounded
from hockney.network.traffic.walk import hops
from hockney.registry import Registry

Floats = NDArray[np.float64]
Place = NDArray[np.int64]
"""(ranks,): which of the allocated nodes a rank is on, as an index into `Allocated.nodes`."""

MOST_TRIED = 64
"""The most ways of matching extents that are tried; a hypercube has thousands that are alike."""
MOST_RANKS = 2048
"""The cost of every rank on every node is kept: 32 MiB for this many ranks."""
MOST_WORK = 2**30
"""Numbers that swaps may touch, some seconds: a bound on work, not on time, so that a seed gives one result."""
SWEEPS = 20


class NotApplicableError(Exception):
    """This placement does not exist for this pattern and network; the text says why."""


@dataclass(frozen=True, eq=False)
class Situation:
    """A pattern to be mapped, with `ppn` ranks on each of the allocated nodes."""

    pattern: Pattern
    among: Allocated
    ppn: int
    routing: str
    seed: int

    @property
    def nodes(self) -> int:
        """How many nodes are allocated."""
        return len(self.among.nodes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the torus (of a hypercube: 2 each) that the nodes make; empty where they make none."""
        network = self.among.links.network
        if not self.among.is_whole:
            return ()
        return (2,) * (network.nodes.bit_length() - 1) if network.kind == "hypercube" else network.shape

    @cached_property
    def hops(self) -> NDArray[np.int64]:
        """(nodes, nodes): links between two allocated nodes."""
        return hops(self.among.links, self.among.nodes)

    def load(self, place: Place) -> Load:
        """What the links carry."""
        network = self.among.links.network
        moved = self.pattern.demand.placed(self.among.nodes[place]).summed(network.nodes)
        return routings.get(self.routing).load(self.among.links, moved)

    def hop_bytes(self, place: Place) -> float:
        """Sizes times links crossed, over all messages."""
        demand = self.pattern.demand
        return float(demand.size_B @ self.hops[place[demand.source], place[demand.target]])


@dataclass(frozen=True)
class PlacementRule:
    """`place` raises NotApplicableError where there is none. `is_random`: several are drawn by seeds."""

    meaning: str
    place: Callable[[Situation], Place]
    is_random: bool = False


placements: Registry[PlacementRule] = Registry(
    "placement", "hockney.network.traffic.placements", "reference/network-traffic.md"
)
"""Placements by name."""


def linear(of: Situation) -> Place:
    """Rank r on node ⌊r / ppn⌋."""
    return np.arange(of.pattern.ranks) // of.ppn


placements.register("linear")(PlacementRule("rank r on node r // ppn: ranks by rows, nodes in order", linear))


def cyclic(of: Situation) -> Place:
    """Rank r on node r mod n."""
    if of.ppn == 1:
        raise NotApplicableError("with one rank for each node it is the linear one")
    return np.arange(of.pattern.ranks) % of.nodes


placements.register("cyclic")(PlacementRule("rank r on node r mod n", cyclic))


def random(of: Situation) -> Place:
    """Every map with the same probability."""
    return np.random.default_rng(of.seed).permutation(of.pattern.ranks) // of.ppn


placements.register("random")(PlacementRule("at random; the median of several", random, is_random=True))


def blocked(of: Situation) -> Place:
    """Ranks of one node are a box of the grid, and the nodes of one leaf switch a box of such boxes.

    A level whose size does not divide the grid is left out; without any there is no such placement.
    """
    grid = of.pattern.grid
    points = np.stack(np.unravel_index(np.arange(of.pattern.ranks), grid))
    keys: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    volume = 1
    for factor in (of.ppn, _nodes_of_a_leaf(of)):
        volume *= factor
        tilings = boxes(grid, volume) if volume > 1 else []
        if tilings:
            # Inside a box by rows; the boxes are the points of the next level.
            sides = tilings[0]
            inside = points % np.array(sides)[:, None]
            keys.append(np.ravel_multi_index(tuple(inside), sides).astype(np.int64))
            points, grid = box_of(points, grid, sides)
            volume = 1
    if not keys or len([extent for extent in of.pattern.grid if extent > 1]) < 2:
        raise NotApplicableError("neither a node nor a leaf switch holds a box of the pattern's grid")
    keys.append(np.ravel_multi_index(tuple(points), grid).astype(np.int64))
    place = np.zeros(of.pattern.ranks, np.int64)
    place[np.lexsort(keys)] = np.arange(of.pattern.ranks) // of.ppn
    return place


def _nodes_of_a_leaf(of: Situation) -> int:
    """How many allocated nodes a leaf switch has, the last perhaps fewer; 1 where that differs."""
    links = of.among.links
    network = links.network
    if not network.switches:
        return 1
    up = links.tail < network.nodes
    leaf = np.full(network.nodes, -1)
    leaf[links.tail[up]] = links.head[up]
    _, first, count = np.unique(leaf[of.among.nodes], return_index=True, return_counts=True)
    count = count[np.argsort(first)]
    return int(count[0]) if (count[:-1] == count[0]).all() and count[-1] <= count[0] else 1


placements.register("blocked")(PlacementRule("boxes of the grid on nodes and below leaf switches", blocked))


def folded(of: Situation) -> Place:
    """The match of extents with the fewest hop-bytes; each node has a box of the grid."""
    if not of.shape:
        raise NotApplicableError("the allocated nodes make no whole torus or hypercube")
    pattern = of.pattern
    points = np.stack(np.unravel_index(np.arange(pattern.ranks), pattern.grid))
    best: Place | None = None
    least = np.inf
    for box in boxes(pattern.grid, of.ppn):
        inside, grid = box_of(points, pattern.grid, box)
        for at in itertools.islice(fold(grid, of.shape), MOST_TRIED):
            node = np.ravel_multi_index(tuple(at), of.shape)
            place = node[np.ravel_multi_index(tuple(inside), grid)].astype(np.int64)
            crossed = of.hop_bytes(place)
            if crossed < least:
                best, least = place, crossed
    if best is None:
        of_torus = "x".join(map(str, of.shape))
        of_grid = "x".join(map(str, pattern.grid))
        raise NotApplicableError(f"the extents of {of_grid} do not match those of {of_torus}")
    return best


placements.register("folded")(PlacementRule("the pattern's grid folded onto the torus", folded))


def _along(curve: str) -> Callable[[Situation], Place]:
    """The grid of ranks and the torus of nodes both in the order of the curve; other nodes in their own order."""

    def place(of: Situation) -> Place:
        node_of_rank = np.zeros(of.pattern.ranks, np.int64)
        nodes = order(of.shape, curve) if of.shape else np.arange(of.nodes)
        node_of_rank[order(of.pattern.grid, curve)] = np.repeat(nodes, of.ppn)
        return node_of_rank

    return place


placements.register("hilbert")(PlacementRule("ranks and nodes along Hilbert's curve", _along("hilbert")))
placements.register("morton")(PlacementRule("ranks and nodes along Morton's curve", _along("morton")))


def optimised(of: Situation) -> Place:
    """Hop-bytes lowered by pairwise swaps until none helps or the work is done.

    Swaps start from three placements: of those that follow a rule, the one with the fewest hop-bytes and the one
    with the least congestion; and a greedy one, which puts the rank with the most traffic to placed ranks on the
    free node where it crosses the fewest links (Hoefler and Snir 2011). The result is the best of all placements
    seen, by the most loaded link.
    """
    if of.pattern.ranks > MOST_RANKS:
        raise NotApplicableError(f"{of.pattern.ranks} ranks take too long; up to {MOST_RANKS} are done")

    def loads(place: Place) -> tuple[float, float]:
        return rounded(of.load(place).worst_B), of.hop_bytes(place)

    ruled: list[Place] = []
    for name, placement in placements:
        if name != "optimised" and not placement.is_random:
            with contextlib.suppress(NotApplicableError):
                ruled.append(placement.place(of))
    weight = both_ways(of)
    starts = {
        start.tobytes(): start
        for start in (min(ruled, key=of.hop_bytes), min(ruled, key=loads), greedy(of, weight))
    }
    return min([*(swapped(of, weight, start) for start in starts.values()), *ruled], key=loads)


def both_ways(of: Situation) -> csr_array:
    """(ranks, ranks), symmetric: bytes between two ranks in both directions."""
    demand, ranks = of.pattern.demand, of.pattern.ranks
    sent = csr_array((demand.size_B, (demand.source, demand.target)), shape=(ranks, ranks))
    return csr_array(sent + sent.T)


def greedy(of: Situation, weight: csr_array) -> Place:
    """The rank with the most traffic to placed ones next, where it crosses the fewest links."""
    ranks = of.pattern.ranks
    place = np.full(ranks, -1)
    free = np.full(of.nodes, of.ppn)
    drawn: Floats = weight.sum(axis=1).astype(np.float64)
    cost: Floats = np.zeros((ranks, of.nodes))
    for done in range(ranks):
        waiting = np.flatnonzero(place < 0)
        rank = waiting[np.argmax(drawn[waiting])]
        node = int(np.argmin(np.where(free > 0, cost[rank], np.inf)))
        place[rank], free[node] = node, free[node] - 1
        if done == 0:
            drawn[:] = 0.0
        peers, size = _row(weight, rank)
        drawn[peers] += size
        cost[peers] += np.outer(size, of.hops[node])
    return place


def swapped(of: Situation, weight: csr_array, start: Place) -> Place:
    """`start` after swaps of two ranks, each the best for one rank, as long as they lower hop-bytes."""
    place, apart = start.copy(), of.hops
    ranks = np.arange(of.pattern.ranks)
    cost: Floats = weight @ apart[place].astype(np.float64)
    generator = np.random.default_rng(of.seed)
    work = 0
    tolerance = 1e-9 * float(weight.max() or 1.0)
    for _ in range(SWEEPS):
        improved = False
        for rank in generator.permutation(ranks):
            peers, size = _row(weight, rank)
            gain = cost[rank, place] + cost[ranks, place[rank]] - cost[rank, place[rank]] - cost[ranks, place]
            # Two that talk to each other stay as far apart as they were.
            gain[peers] += 2 * size * apart[place[rank], place[peers]]
            other = int(np.argmin(gain))
            work += len(ranks)
            if gain[other] >= -tolerance:
                continue
            here, there = place[rank], place[other]
            moved = (apart[there] - apart[here]).astype(np.float64)
            cost[peers] += np.outer(size, moved)
            peers, size = _row(weight, other)
            cost[peers] -= np.outer(size, moved)
            place[rank], place[other] = there, here
            work += 2 * len(peers) * of.nodes
            improved = True
        if not improved or work > MOST_WORK:
            break
    return place


def _row(weight: csr_array, rank: int) -> tuple[NDArray[np.int32], Floats]:
    begin, end = weight.indptr[rank], weight.indptr[rank + 1]
    return weight.indices[begin:end], weight.data[begin:end]


placements.register("optimised")(PlacementRule("swaps that lower hop-bytes, from the best start", optimised))
