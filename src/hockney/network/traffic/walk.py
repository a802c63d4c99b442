"""Shortest walks over states: how many there are, and what links carry when demands are spread over them.

A state is a vertex, or a vertex with what the way so far allows (up/down routing). The paths of all pairs are
never listed: they are counted forward, level by level, and shares are summed backward, as Brandes (2001) does it
for betweenness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Demand, Links

MOST_BETWEEN = 8192
"""The most nodes between which all hops are held: they take 512 MiB."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Walks:
    """Steps between states: `tail[i]` → `head[i]` crosses the directed link `link[i]`.

    `vertex` (states,) is where a state is, `forwards` (states,) which of them pass on what is not theirs.
    """

    links: Links
    tail: Ints
    head: Ints
    link: Ints
    vertex: Ints
    forwards: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.vertex)

    @cached_property
    def _outward(self) -> tuple[Ints, Ints]:
        """Steps ordered by their tail, and where each state's begin."""
        order = np.argsort(self.tail, kind="stable")
        return order, np.searchsorted(self.tail[order], np.arange(self.states + 1))

    def _from(self, states: Ints) -> Ints:
        """The steps out of some states."""
        order, begin = self._outward
        count = begin[states + 1] - begin[states]
        skipped = np.repeat(begin[states] - (np.cumsum(count) - count), count)
        steps: Ints = order[skipped + np.arange(count.sum())]
        return steps

    def levels(self, source: int, targets: NDArray[np.bool_] | None = None) -> tuple[Ints, list[Ints]]:
        """Distance of every state from `source` (−1: not reached), and the steps of shortest walks by level.

        Ends early when all states in `wanted` have been reached.
        """
        distance = np.full(self.states, -1)
        distance[source] = 0
        last = np.zeros(self.states, np.int64)
        frontier = np.array([source])
        by_level: list[Ints] = []
        missing = -1 if targets is None else int(targets.sum()) - int(targets[source])
        while len(frontier) and missing != 0:
            steps = self._from(frontier)
            steps = steps[distance[self.head[steps]] < 0]
            heads = self.head[steps]
            # Each head once: of equal ones the last to write stays.
            number = np.arange(len(heads))
            last[heads] = number
            frontier = heads[last[heads] == number]
            distance[frontier] = len(by_level) + 1
            by_level.append(steps)
            if targets is not None:
                missing -= int(targets[frontier].sum())
            frontier = frontier[self.forwards[frontier]]
        return distance, by_level

    def spread(self, source: int, weight: Floats) -> Floats:
        """What each link carries (M,) when `weight` (states,) goes from `source` to each state.

        Every shortest walk, cable by cable, carries the same share of its pair's bytes.
        """
        targets = weight > 0
        distance, by_level = self.levels(source, targets)
        if (targets & (distance < 0)).any():
            names = self.links.network.names
            target = self.vertex[np.flatnonzero(targets & (distance < 0))[0]]
            raise RequestError(
                f"there is no way from {names[self.vertex[source]]} to {names[target]} that this routing allows",
                "choose another routing: shortest goes wherever links lead",
            )
        walks = np.zeros(self.states)
        walks[source] = 1.0
        # Not by bincount: a level is small beside the network, and there are many.
        for steps in by_level:
            np.add.at(walks, self.head[steps], walks[self.tail[steps]])
        carried = np.zeros(len(self.links.tail))
        flow = weight.copy()
        for steps in reversed(by_level):
            tail, head = self.tail[steps], self.head[steps]
            share = walks[tail] / walks[head] * flow[head]
            np.add.at(carried, self.link[steps], share)
            np.add.at(flow, tail, share)
        return carried


def by_source(demand: Demand, carry: Callable[[int, Ints, Floats], Floats], links: Links) -> Floats:
    """The sum of `carry(source, targets, bytes)` over all sources of a demand: (M,)."""
    order = np.argsort(demand.source, kind="stable")
    sources, begin = np.unique(demand.source[order], return_index=True)
    carried = np.zeros(len(links.tail))
    # np.split makes one empty part of nothing.
    parts = np.split(order, begin[1:]) if len(order) else []
    for source, messages in zip(sources, parts, strict=True):
        carried += carry(int(source), demand.target[messages], demand.size_B[messages])
    return carried


def plain(links: Links) -> Walks:
    """All walks along links. Nodes of a network with switches forward nothing."""
    network = links.network
    forwards = np.arange(network.vertices) >= (network.nodes if network.switches else 0)
    return Walks(links, links.tail, links.head, np.arange(len(links.tail)), np.arange(network.vertices), forwards)


def hops(links: Links, nodes: Ints) -> Ints:
    """Links on a shortest way between any two of `nodes` (n,): (n, n). RequestError for too many."""
    if len(nodes) > MOST_BETWEEN:
        raise RequestError(
            f"the hops between any two of {len(nodes)} nodes are too many to hold",
            f"allocate up to {MOST_BETWEEN} with --allocation",
        )
    walks = plain(links)
    targets = np.zeros(walks.states, np.bool_)
    targets[nodes] = True
    between = np.zeros((len(nodes), len(nodes)), np.int64)
    for row, node in enumerate(nodes):
        between[row] = walks.levels(int(node), targets)[0][nodes]
    return between
