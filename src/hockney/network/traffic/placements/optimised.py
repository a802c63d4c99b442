"""Improved by swaps from the best of the others, and from a greedy start."""

from __future__ import annotations

import contextlib

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hockney.network.traffic.placements.base import (
    NotApplicableError,
    Place,
    Placement,
    Situation,
    placements,
)
from hockney.network.traffic.study import rounded

MOST_RANKS = 2048
"""The costs of every rank on every node are kept: 32 MiB for so many."""
MOST_WORK = 2**30
"""Numbers touched by swaps, some seconds: a bound on work and not on time, so that a seed gives one result."""
SWEEPS = 20

Floats = NDArray[np.float64]


def optimised(of: Situation) -> Place:
    """Hop-bytes lowered by pairwise swaps until none helps or the work is done.

    Starts: of the placements that have a rule, those with the least hop-bytes and the least loaded link, and a
    greedy one that puts the rank with the most traffic to those already placed on the free node where it crosses
    the fewest links (Hoefler and Snir 2011). The best of all that came by, by the most loaded link, is taken.
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
        one.tobytes(): one for one in (min(ruled, key=of.hop_bytes), min(ruled, key=loads), greedy(of, weight))
    }
    return min([*(swapped(of, weight, one) for one in starts.values()), *ruled], key=loads)


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
    place, hops = start.copy(), of.hops
    ranks = np.arange(of.pattern.ranks)
    cost: Floats = weight @ hops[place].astype(np.float64)
    generator = np.random.default_rng(of.seed)
    work = 0
    tolerance = 1e-9 * float(weight.max() or 1.0)
    for _ in range(SWEEPS):
        improved = False
        for one in generator.permutation(ranks):
            peers, size = _row(weight, one)
            gain = cost[one, place] + cost[ranks, place[one]] - cost[one, place[one]] - cost[ranks, place]
            # Two that talk to each other stay as far apart as they were.
            gain[peers] += 2 * size * hops[place[one], place[peers]]
            other = int(np.argmin(gain))
            work += len(ranks)
            if gain[other] >= -tolerance:
                continue
            here, there = place[one], place[other]
            moved = (hops[there] - hops[here]).astype(np.float64)
            cost[peers] += np.outer(size, moved)
            peers, size = _row(weight, other)
            cost[peers] -= np.outer(size, moved)
            place[one], place[other] = there, here
            work += 2 * len(peers) * of.nodes
            improved = True
        if not improved or work > MOST_WORK:
            break
    return place


def _row(weight: csr_array, rank: int) -> tuple[NDArray[np.int32], Floats]:
    begin, end = weight.indptr[rank], weight.indptr[rank + 1]
    return weight.indices[begin:end], weight.data[begin:end]


placements.register("optimised")(Placement("swaps that lower hop-bytes, from the best start", optimised))
