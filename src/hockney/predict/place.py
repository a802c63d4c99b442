"""Where ranks are, and which links between their nodes messages share."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hockney._core import Network
from hockney.machine.placement import DOMAINS, Placement
from hockney.machine.system import LEVELS, Node, System

LOCALITIES = (*DOMAINS, "network")
"""The simulator's order: a pair's locality is the first level that both ranks share."""
NETWORK = len(LOCALITIES) - 1
"""Index of the locality of ranks on different nodes."""


@dataclass(frozen=True)
class Place:
    """The places of a run's ranks: ids of shape (levels, ranks), each rank's node, the most ranks on a node.

    Links between nodes: extents of a torus, or nodes and uplinks of a tree's switches. `memory`: the NUMA domain
    whose memory each rank uses; none: it is not shared.
    """

    levels: NDArray[np.int32]
    node: tuple[int, ...]
    ppn: int
    torus: tuple[int, ...] = ()
    below: tuple[int, ...] = ()
    uplinks: tuple[int, ...] = ()
    memory: tuple[int, ...] = ()

    @classmethod
    def of_nodes(
        cls,
        node: NDArray[np.int32],
        ppn: int,
        torus: tuple[int, ...] = (),
        below: tuple[int, ...] = (),
        uplinks: tuple[int, ...] = (),
    ) -> Place:
        """Ranks on these nodes, which share nothing smaller than a node."""
        alone = -1 - np.arange(node.size, dtype=np.int32)
        levels = np.stack([*[alone] * (len(LOCALITIES) - 2), node])
        return cls(levels, tuple(node.tolist()), ppn, torus, below, uplinks)

    def network(self, *, is_shared: bool = True) -> Network:
        """What messages share, in the form that the core reads; nothing where that costs nothing."""
        if not is_shared:
            return Network(node_of_rank=())
        return Network(
            node_of_rank=self.node,
            torus=self.torus,
            below=self.below,
            uplinks=self.uplinks,
            memory_of_rank=self.memory,
        )

    @cached_property
    def key(self) -> Hashable:
        """The same for ranks at the same places."""
        links = self.torus, self.below, self.uplinks, self.memory
        return self.levels.tobytes(), self.node, self.ppn, *links

    @cached_property
    def digest(self) -> str:
        """Of `key`, the same in every process."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()

    @property
    def is_spread(self) -> bool:
        """Whether messages go over the network."""
        return len(set(self.node)) > 1

    @property
    def localities(self) -> list[int]:
        """Indices into `LOCALITIES` of those that some pair of ranks has, innermost first."""
        groups = [self.levels.shape[1], *(np.unique(ids).size for ids in self.levels), 1]
        # Two groups of the level inside meet at a level that has fewer; the innermost groups are the ranks.
        return [level for level, (inner, outer) in enumerate(pairwise(groups)) if outer < inner]

    @property
    def shares_links(self) -> bool:
        """Whether messages share links between the nodes."""
        return bool(self.torus or self.below)


def memory_of(placed: Placement, node: Node) -> tuple[int, ...]:
    """Whose memory each rank uses, numbered from 0: its NUMA domain's.

    Ranks that may leave theirs are spread evenly over the domains of what they are bound to, as schedulers do.
    """
    domain = placed.numa.astype(np.int64)
    if placed.binding in ("package", "node"):
        each = node.numa_per_package * (node.packages if placed.binding == "node" else 1)
        outer = getattr(placed, placed.binding)
        for group in np.unique(outer):
            of = np.flatnonzero(outer == group)
            domain[of] = group * each + np.arange(of.size) % each
    return tuple(int(n) for n in np.unique(domain, return_inverse=True)[1])


def place_of(placed: Placement, system: System | None = None) -> Place:
    """The places of placed ranks, and the links that they share if `system` is given.

    Levels below a rank's binding are left out: the rank moves there, so that no other is reliably near."""
    ids = []
    nobody = -1 - np.arange(placed.ranks, dtype=np.int32)
    for level in DOMAINS:
        moves = placed.binding is not None and LEVELS.index(level) < LEVELS.index(placed.binding)
        ids.append(nobody if moves else getattr(placed, level))
    node = np.unique(placed.node, return_inverse=True)[1]
    levels, of_rank = np.ascontiguousarray(ids, dtype=np.int32), tuple(int(n) for n in node)
    if system is None:
        return Place(levels, of_rank, placed.ppn)
    network, memory = system.network, memory_of(placed, system.node)
    shape = [] if placed.network_coordinates is None else network.shapes.get(placed.nodes, network.shape)
    return Place(levels, of_rank, placed.ppn, tuple(shape), tuple(network.below), tuple(network.uplinks), memory)
