"""Who sends how much to whom, over which directed links, and what every link then carries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.topologies.base import Network

MOST_PAIRS = 2**24
"""The most pairs of one demand, an alltoall of 4096: more do not fit the memory of a small machine."""

MOST_B = 10**18
"""The largest message, an exabyte: sums over messages and links then stay finite."""

MOST_CABLES = 2**24
"""The most cables: each has a load of its own in both directions."""

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Senders and receivers, as vertices of a network."""


@dataclass(frozen=True, eq=False)
class Demand:
    """Messages: `source[i]` sends `size_B[i]` to `target[i]`; of nodes on a network, or of ranks in a pattern."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    size_B: NDArray[np.float64]

    @classmethod
    def of(cls, source: Any, target: Any, size_B: Any = 1.0) -> Demand:
        """Messages from arrays, one size for all or one each; those that are empty or to oneself drop out."""
        source, target = np.asarray(source, np.int64).ravel(), np.asarray(target, np.int64).ravel()
        size = np.broadcast_to(np.asarray(size_B, np.float64), source.shape)
        sent = (source != target) & (size > 0)
        return cls(source[sent], target[sent], size[sent])

    def summed(self, count: int) -> Demand:
        """The same bytes in one message for each pair of `count` ends, sorted by source and then target."""
        key, where = np.unique(self.source * count + self.target, return_inverse=True)
        return Demand(key // count, key % count, added(where, self.size_B, len(key)))

    def placed(self, at: NDArray[np.int64]) -> Demand:
        """The demand with each end replaced by its place; messages that stay in one place are dropped."""
        return Demand.of(at[self.source], at[self.target], self.size_B)

    @property
    def total_B(self) -> float:
        """Bytes of all messages."""
        return float(self.size_B.sum())


def added(where: NDArray[np.int64], weight: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """(count,): the sum of `weight` at each number in `where`."""
    return np.bincount(where, weight, count).astype(np.float64, copy=False)


def check_pairs(pairs: int, what: str) -> None:
    """RequestError where the messages would not fit the memory."""
    if pairs > MOST_PAIRS:
        raise RequestError(f"{what} is {pairs} messages, more than {MOST_PAIRS}", "ask for fewer nodes or ranks")


def check_bytes(size_B: float, what: str) -> None:
    """RequestError for a message above `MOST_B`."""
    if size_B > MOST_B:
        raise RequestError(
            f"{what} is too large: a message has at most {MOST_B:.0e} bytes", "give a smaller size"
        )


@dataclass(frozen=True, eq=False)
class Links:
    """The directed links of a network, each cable of a bundle by itself: M of them."""

    network: Network
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    bundle: NDArray[np.int64]
    """(M,): the row of `network.ends`."""
    cable: NDArray[np.int64]
    """(M,): the number of the cable in its bundle, from 0."""

    @classmethod
    def of(cls, network: Network) -> Links:
        """Both directions of every cable; RequestError for more than `MOST_CABLES`."""
        if network.parallel.sum() > MOST_CABLES:
            raise RequestError(
                f"{int(network.parallel.sum())} cables are too many to load one by one (at most {MOST_CABLES})",
                "describe parallel cables as one with their rates together",
            )
        bundle = np.repeat(np.arange(len(network.ends)), network.parallel)
        first = np.cumsum(network.parallel) - network.parallel
        cable = np.arange(len(bundle)) - first[bundle]
        a, b = network.ends[bundle].T
        pair = [np.concatenate(two) for two in ((a, b), (b, a), (bundle, bundle), (cable, cable))]
        return cls(network, *pair)

    @cached_property
    def relative_bandwidth(self) -> NDArray[np.float64]:
        """(M,): as a multiple of a node's own fastest link; all 1 where not every bandwidth is known."""
        rate = self.network.bandwidth_bit_per_s
        if np.isnan(rate).any() or not len(rate):
            return np.ones(len(self.tail))
        at_node = (self.network.ends < self.network.nodes).any(axis=1)
        relative: NDArray[np.float64] = rate / rate[at_node].max()
        return relative[self.bundle]

    @property
    def node_link_B_per_s(self) -> float | None:
        """Bandwidth of a node's own fastest link; None where not every bandwidth is known."""
        rate = self.network.bandwidth_bit_per_s
        if np.isnan(rate).any() or not len(rate):
            return None
        return float(rate[(self.network.ends < self.network.nodes).any(axis=1)].max() / 8)

    def name(self, link: int) -> str:
        """`leaf 0 → spine 2`, with the number of the cable where the bundle has several."""
        names = self.network.names
        several = self.network.parallel[self.bundle[link]] > 1
        cable = f" (cable {self.cable[link]})" if several else ""
        return f"{names[self.tail[link]]} → {names[self.head[link]]}{cable}"


@dataclass(frozen=True, eq=False)
class Allocated:
    """Nodes of a network that take part: `nodes` (n,), in the order in which a program has them."""

    links: Links
    nodes: NDArray[np.int64]

    @property
    def is_whole(self) -> bool:
        """Whether all nodes of the network take part, in their order."""
        return np.array_equal(self.nodes, np.arange(self.links.network.nodes))

    def by_coordinates(self, move: Callable[..., Any]) -> Pairs:
        """Every node of a whole torus with the node at `move(coordinates, extents)`, both (dimensions, nodes)."""
        shape = self.links.network.shape
        here = np.stack(np.unravel_index(self.nodes, shape))
        beside = move(here, np.array(shape)[:, None])
        return self.nodes, np.ravel_multi_index(tuple(beside), shape).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Load:
    """The bytes of a demand that each directed link carries: `carried_B` (M,), in the order of `links`."""

    links: Links
    carried_B: NDArray[np.float64]

    @cached_property
    def congestion_B(self) -> NDArray[np.float64]:
        """(M,): load divided by bandwidth, in the bytes that would take as long on a node's own link."""
        return self.carried_B / self.links.relative_bandwidth

    @property
    def worst_B(self) -> float:
        """The congestion of the most loaded link, in bytes."""
        return float(self.congestion_B.max(initial=0.0))

    @property
    def average_B(self) -> float:
        """The mean congestion of all directed links of the network, used or not, in bytes."""
        return float(self.congestion_B.mean()) if len(self.congestion_B) else 0.0

    @property
    def hop_bytes(self) -> float:
        """Bytes times links crossed, summed over all messages."""
        return float(self.carried_B.sum())

    def most_loaded(self, count: int) -> list[tuple[str, float, float]]:
        """Names, bytes and congestion of the `count` most loaded links; equal ones in the network's order."""
        # Loads that differ by rounding alone are equal.
        order = np.argsort(-(self.congestion_B / (self.worst_B or 1.0)).round(9), kind="stable")[:count]
        return [
            (self.links.name(int(i)), float(self.carried_B[i]), float(self.congestion_B[i]))
            for i in order
            if self.carried_B[i] > 0
        ]
