"""The permutation that loads a link most, exactly: for each link an assignment of maximum weight.

Towles and Dally, Worst-case traffic for oblivious routing functions, SPAA 2002: where shares of paths do not
depend on the traffic, a link's load is a sum over pairs, and its largest over all permutations an assignment.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Allocated, Links, Pairs
from hockney.network.traffic.walk import plain

MOST_NODES = 512
"""One assignment of this many nodes takes some 50 ms, and a network without symmetry needs many."""
MOST_SYMMETRIC = 2048
"""The most nodes of a whole torus or hypercube, where one link of each extent is enough: 2 s for 12 × 12 × 12."""
LONGEST_S = 20.0
"""The most time for all links of a network without symmetry; what takes longer is refused, not guessed."""

Floats = NDArray[np.float64]
_SAME = 1e-9
"""Sums of shares such as 1/3 differ by rounding; a link is not worse for that."""


@dataclass(frozen=True, eq=False)
class WorstPermutation:
    """`congestion`: messages on the most loaded link, as many as take as long on a node's own (fastest) link."""

    pairs: Pairs
    congestion: float


def worst_of_permutations(among: Allocated) -> WorstPermutation:
    """The worst permutation of the allocated nodes, each pair spread evenly over its shortest paths.

    RequestError for too many nodes, or where the links take too long: then no bound is known.
    """
    nodes, links = among.nodes, among.links
    is_symmetric = among.is_whole and (links.network.kind == "hypercube" or bool(links.network.shape))
    if len(nodes) > (most_nodes := MOST_SYMMETRIC if is_symmetric else MOST_NODES):
        raise RequestError(
            f"the worst permutation of {len(nodes)} nodes takes too long, more than {most_nodes} do",
            "allocate fewer nodes with --allocation; tornado and worst-pairing are two that are bad",
        )
    shares = _Shares(links, nodes)
    candidates = _representatives(links) if is_symmetric else np.arange(len(links.tail))
    # It takes a fifth of a second to import, and a machine file is read without.
    from scipy.optimize import linear_sum_assignment

    # No permutation loads a link more than each sender's largest share, or each receiver's.
    most = np.array([shares.most(int(link)) for link in candidates])
    worst, pairs = 0.0, (nodes, nodes)
    end = monotonic() + LONGEST_S
    for index in np.argsort(-most, kind="stable"):
        if most[index] <= worst * (1 + _SAME):
            break
        if monotonic() > end:
            raise RequestError(
                f"the worst permutation of {links.network.spec} takes longer than {LONGEST_S:.0f} s",
                "allocate fewer nodes with --allocation; tornado and worst-pairing are two that are bad",
            )
        weight = shares.of(int(candidates[index]))
        row, column = linear_sum_assignment(weight, maximize=True)
        if (load := float(weight[row, column].sum())) > worst * (1 + _SAME):
            worst, pairs = load, (nodes[np.asarray(row)], nodes[np.asarray(column)])
    return WorstPermutation(pairs, worst)


def _representatives(links: Links) -> NDArray[np.int64]:
    """Links of a whole torus or hypercube such that a symmetry takes one of them to every other.

    Of a torus (moved, mirrored, equal extents exchanged) node 0's link in each extent, of a hypercube any link.
    """
    network = links.network
    of_first = np.flatnonzero(links.tail == 0)
    if network.kind == "hypercube":
        return of_first[:1]
    moved = np.array(np.unravel_index(links.head[of_first], network.shape)) != 0
    extent = np.array(network.shape)[moved.argmax(axis=0)]
    return of_first[np.unique(extent, return_index=True)[1]]


class _Shares:
    """How much of each pair's message a link carries, by the number of shortest paths (Brandes 2001)."""

    def __init__(self, links: Links, nodes: NDArray[np.int64]) -> None:
        walks = plain(links)
        self.links, self.nodes = links, nodes
        vertices = links.network.vertices
        self.hops = np.full((len(nodes), vertices), -1)
        self.paths = np.zeros((len(nodes), vertices))
        for row, node in enumerate(nodes):
            self.hops[row], by_level = walks.levels(int(node))
            self.paths[row, node] = 1.0
            for steps in by_level:
                np.add.at(self.paths[row], walks.head[steps], self.paths[row, walks.tail[steps]])
        self.between = self.hops[:, nodes]
        self.all_paths = self.paths[:, nodes]
        self.passes = walks.forwards

    def of(self, link: int) -> Floats:
        """(n, n): of sender's to receiver's message, divided by the link's relative bandwidth."""
        tail, head = int(self.links.tail[link]), int(self.links.head[link])
        to, on = self.hops[:, tail, None], self.hops[None, :, head]
        crossed = (to + 1 + on == self.between) & (to >= 0) & (on >= 0)
        # A node of a network with switches passes nothing on: only its own begins or ends there.
        if not self.passes[tail]:
            crossed &= (self.nodes == tail)[:, None]
        if not self.passes[head]:
            crossed &= (self.nodes == head)[None, :]
        # Links are full duplex: as many ways lead back.
        several = self.paths[:, tail, None] * self.paths[None, :, head] / self.all_paths
        shares: Floats = np.where(crossed, several, 0.0) / self.links.relative_bandwidth[link]
        return shares

    def most(self, link: int) -> float:
        """What no permutation exceeds on a link."""
        weight = self.of(link)
        return float(min(weight.max(axis=0).sum(), weight.max(axis=1).sum()))
