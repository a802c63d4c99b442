"""What the algorithms of MPI libraries send, from their definitions."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.int64]
"""[from, to]: bytes or messages."""
Tree = list[tuple[int, int]]
"""(parent, child) of each edge, relative to the root."""


def linear(ranks: int) -> Tree:
    return [(0, child) for child in range(1, ranks)]


def chains(ranks: int, fan_out: int) -> Tree:
    """The others cut into `fan_out` chains of consecutive ranks, the longer ones first."""
    edges: Tree = []
    for chain in np.array_split(np.arange(1, ranks), fan_out):
        edges += list(zip([0, *chain[:-1]], chain, strict=True))
    return edges


def knomial(ranks: int, radix: int) -> Tree:
    """The parent lacks the lowest digit other than zero, in base `radix`."""

    def parent(rank: int) -> int:
        unit = 1
        while rank // unit % radix == 0:
            unit *= radix
        return rank - rank // unit % radix * unit

    return [(parent(child), child) for child in range(1, ranks)]


def binomial_by_doubling(ranks: int) -> Tree:
    """In round k the first 2^k ranks send to the next 2^k: the parent lacks the highest bit."""
    return [(child - (1 << (child.bit_length() - 1)), child) for child in range(1, ranks)]


def binary_by_levels(ranks: int) -> Tree:
    """Level l has 2^l ranks, and rank r in it the children r + 2^l and r + 2·2^l (coll_base_topo.c)."""
    edges: Tree = []
    for rank in range(ranks):
        width = 1 << ((rank + 1).bit_length() - 1)
        edges += [(rank, child) for child in (rank + width, rank + 2 * width) if child < ranks]
    return edges


def k_ary(ranks: int, k: int) -> Tree:
    return [((child - 1) // k, child) for child in range(1, ranks)]


def weighted(edges: list[tuple[int, int, int]], ranks: int, root: int) -> Matrix:
    matrix = np.zeros((ranks, ranks), dtype=np.int64)
    for parent, child, amount in edges:
        matrix[(parent + root) % ranks, (child + root) % ranks] = amount
    return matrix


def whole(tree: Tree, ranks: int, root: int, amount: int) -> Matrix:
    """Each edge carries the whole vector."""
    return weighted([(parent, child, amount) for parent, child in tree], ranks, root)


def by_subtree(tree: Tree, ranks: int, root: int, amount: int) -> Matrix:
    """Each edge carries a block for each rank below it (scatter)."""
    below = dict.fromkeys(range(ranks), 1)
    for parent, child in sorted(tree, key=lambda edge: -edge[1]):
        below[parent] += below[child]
    return weighted([(parent, child, below[child] * amount) for parent, child in tree], ranks, root)


def around(ranks: int, amount: int, distance: int = 1) -> Matrix:
    """Everyone sends to the rank at a distance to its right."""
    return amount * np.roll(np.eye(ranks, dtype=np.int64), distance, axis=1)


def bruck(ranks: int, amount: int) -> Matrix:
    """In steps of doubled distance everyone hands on to its left the blocks that it has and the other lacks."""
    steps = [1 << k for k in range((ranks - 1).bit_length())]
    total: Matrix = np.sum([around(ranks, min(step, ranks - step) * amount, -step) for step in steps], axis=0)
    return total


RANKS, ROOT, SIZE_B = 6, 1, 400_000
TOLERANCE_B = SIZE_B // 16
"""Headers, acknowledgements and a late rest of connecting take a few kB; two algorithms differ by SIZE_B / 6."""


@cache
def expectations(kind: str) -> dict[tuple[str, str, int, int], Matrix]:
    """(operation, algorithm, segment_B, radix) → bytes sent, for each kind of MPI."""
    bcast = partial(whole, ranks=RANKS, root=ROOT, amount=SIZE_B)
    blocks = partial(by_subtree, ranks=RANKS, root=ROOT, amount=SIZE_B)
    ring = around(RANKS, 2 * (RANKS - 1) * SIZE_B // RANKS)
    if kind == "openmpi":
        return {
            ("bcast", "tuned:basic_linear", 0, 0): bcast(linear(RANKS)),
            ("bcast", "tuned:pipeline", 8192, 0): bcast(chains(RANKS, 1)),
            ("bcast", "tuned:chain", 0, 2): bcast(chains(RANKS, 2)),
            ("bcast", "tuned:binary_tree", 0, 0): bcast(binary_by_levels(RANKS)),
            ("bcast", "tuned:knomial", 0, 3): bcast(knomial(RANKS, 3)),
            ("bcast", "adapt:binomial", 0, 0): bcast(binomial_by_doubling(RANKS)),
            ("allgather", "libnbc:linear", 0, 0): SIZE_B * (1 - np.eye(RANKS, dtype=np.int64)),
            ("scatter", "tuned:basic_linear", 0, 0): blocks(linear(RANKS)),
            ("scatter", "tuned:binomial", 0, 0): blocks(knomial(RANKS, 2)),
            ("gather", "tuned:basic_linear", 0, 0): blocks(linear(RANKS)).T,
            ("gather", "tuned:binomial", 0, 0): blocks(knomial(RANKS, 2)).T,
            ("reduce", "tuned:pipeline", 8192, 0): bcast(chains(RANKS, 1)).T,
            ("allreduce", "tuned:ring", 0, 0): ring,
            ("allgather", "tuned:ring", 0, 0): around(RANKS, (RANKS - 1) * SIZE_B),
            ("allgather", "tuned:bruck", 0, 0): bruck(RANKS, SIZE_B),
        }
    if kind == "mpich":
        return {
            ("bcast", "mpir:binomial", 0, 0): bcast(knomial(RANKS, 2)),
            ("bcast", "mpir:tree", 0, 3): bcast(k_ary(RANKS, 3)),
            ("bcast", "mpir:tree", 0, 4): bcast(k_ary(RANKS, 4)),
            ("bcast", "mpir:pipelined_tree", 65536, 2): bcast(k_ary(RANKS, 2)),
            ("allreduce", "mpir:ring", 0, 0): ring,
            ("allgather", "mpir:ring", 0, 0): around(RANKS, (RANKS - 1) * SIZE_B),
            ("allgather", "mpir:brucks", 0, 0): bruck(RANKS, SIZE_B),
            ("reduce", "mpir:binomial", 0, 0): bcast(knomial(RANKS, 2)).T,
        }
    return {
        ("bcast", "1", 0, 0): bcast(knomial(RANKS, 2)),
        ("bcast", "7", 0, 0): bcast(chains(RANKS, 1)),
        ("scatter", "1", 0, 0): blocks(knomial(RANKS, 2)),
    }


def agrees(sent: Matrix, expected: Matrix) -> bool:
    return bool(np.abs(sent - expected).max() <= TOLERANCE_B)
