"""Traffic by which topologies are judged: a network and an allocation of its nodes in, pairs of nodes out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Allocated, Pairs, check_pairs
from hockney.network.traffic.walk import hops
from hockney.network.traffic.worst import worst_of_permutations
from hockney.registry import Registry
from hockney.units import counted

MOST_ASSIGNED = 2048
"""The assignment's time grows as the cube of the nodes: some 10 s for this many."""


@dataclass(frozen=True)
class Traffic:
    """`pairs` takes the allocation and a seed; RequestError where such traffic is not defined.

    `is_pairing`: every node sends to at most one other. `is_random`: the seed matters.
    """

    meaning: str
    pairs: Callable[[Allocated, int], Pairs]
    is_pairing: bool = True
    is_random: bool = False


traffics: Registry[Traffic] = Registry(
    "traffic", "hockney.network.traffic.demands", "reference/network-traffic.md"
)
"""Traffic by name."""


def alltoall(among: Allocated, _seed: int) -> Pairs:
    """n·(n − 1) messages between n nodes."""
    count = len(among.nodes)
    check_pairs(count**2, f"an alltoall of {counted(count, 'node')}")
    source, target = np.divmod(np.arange(count**2), count)
    apart = source != target
    return among.nodes[source[apart]], among.nodes[target[apart]]


traffics.register("alltoall")(Traffic("every node sends to every other", alltoall, is_pairing=False))


def _halves(nodes: NDArray[np.int64]) -> Pairs:
    half = len(nodes) // 2
    low, high = nodes[:half], nodes[half : 2 * half]
    return np.concatenate([low, high]), np.concatenate([high, low])


def bisection(among: Allocated, _seed: int) -> Pairs:
    """Node i of n with node i + ⌊n/2⌋, both ways; of an odd number the last has no partner."""
    return _halves(among.nodes)


traffics.register("bisection")(Traffic("node i with node i + n/2, both ways", bisection))


def bit_complement(among: Allocated, _seed: int) -> Pairs:
    """Node i of n = 2ᵐ with node n − 1 − i, the number with all bits turned."""
    count = len(among.nodes)
    if count & (count - 1):
        raise RequestError(
            f"bit_complement needs a power of two of nodes, not {count}", "allocate one, or choose bisection"
        )
    return among.nodes, among.nodes[::-1]


traffics.register("bit_complement")(Traffic("node i with node n − 1 − i, n a power of two", bit_complement))


def nearest_neighbour(among: Allocated, _seed: int) -> Pairs:
    """Messages along every link between allocated nodes; without such links, to both neighbours in order."""
    links = among.links
    taking_part = np.zeros(links.network.vertices, np.bool_)
    taking_part[among.nodes] = True
    between = taking_part[links.tail] & taking_part[links.head] & (links.cable == 0)
    if between.any():
        return links.tail[between], links.head[between]
    after = np.roll(among.nodes, -1)
    if len(among.nodes) < 3:
        return among.nodes, after
    return np.concatenate([among.nodes, after]), np.concatenate([after, among.nodes])


traffics.register("nearest_neighbour")(
    Traffic("every node sends to those it has a link to; in leaf order where none has", nearest_neighbour, False),
)


def permutation(among: Allocated, seed: int) -> Pairs:
    """A random permutation; a node that it maps to itself sends nothing."""
    return among.nodes, np.random.default_rng(seed).permutation(among.nodes)


traffics.register("permutation")(Traffic("a random permutation", permutation, is_random=True))


def random_bisection(among: Allocated, seed: int) -> Pairs:
    """The nodes shuffled, then the first half paired with the second, both ways.

    This traffic measures the effective bisection bandwidth (Hoefler, Schneider, Lumsdaine 2008).
    """
    return _halves(np.random.default_rng(seed).permutation(among.nodes))


traffics.register("random_bisection")(
    Traffic("two random halves paired, both ways", random_bisection, is_random=True)
)


def random_halves(among: Allocated, seed: int) -> Pairs:
    """`random_bisection` one way: the first half sends, as in the effect `congestion`."""
    source, target = random_bisection(among, seed)
    return source[: len(source) // 2], target[: len(target) // 2]


traffics.register("random_halves")(
    Traffic("a random half of the nodes to the other half, one way", random_halves, is_random=True)
)


def tornado(among: Allocated, _seed: int) -> Pairs:
    """⌈k/2⌉ − 1 further in each dimension of extent k (Dally and Towles, 2004): the other way round is longer."""
    if not among.links.network.shape or not among.is_whole:
        raise RequestError("tornado is defined on a whole torus", "choose worst-pairing or bisection")
    return among.by_coordinates(lambda here, extents: (here + (extents + 1) // 2 - 1) % extents)


traffics.register("tornado")(Traffic("⌈k/2⌉ − 1 further in each dimension of a torus", tornado))


def transpose(among: Allocated, _seed: int) -> Pairs:
    """Coordinates in reverse order on a cubic torus; elsewhere the nodes as a square matrix, transposed."""
    if among.is_whole and len(set(among.links.network.shape)) == 1:
        return among.by_coordinates(lambda here, _: here[::-1])
    side = math.isqrt(len(among.nodes))
    if side**2 != len(among.nodes):
        raise RequestError(
            f"transpose needs a square number of nodes, not {len(among.nodes)}",
            f"allocate {side**2}, or take a torus with equal extents",
        )
    return among.nodes, np.ascontiguousarray(among.nodes.reshape(side, side).T).ravel()


traffics.register("transpose")(
    Traffic("coordinates in reverse order, or the nodes as a square matrix transposed", transpose)
)


def worst_pairing(among: Allocated, _seed: int) -> Pairs:
    """Each node to one other, with the largest sum of hops of all such pairings (Hoefler et al. 2010, section 3).

    The partner is the farthest node: on a whole torus ⌊k/2⌋ further in each dimension, on a whole hypercube the
    opposite corner. Elsewhere an assignment of maximum weight finds it. The pairing is the worst by distance:
    another one may load a link more.
    """
    network = among.links.network
    if among.is_whole and network.shape:
        return among.by_coordinates(lambda here, extents: (here + extents // 2) % extents)
    if among.is_whole and network.kind == "hypercube":
        return among.nodes, among.nodes[::-1]
    if len(among.nodes) > MOST_ASSIGNED:
        raise RequestError(
            f"the worst pairing of {len(among.nodes)} nodes takes too long, more than {MOST_ASSIGNED} do",
            "allocate fewer nodes with --allocation, or choose --pattern bisection",
        )
    # It takes a fifth of a second to import, and a machine file is read without.
    from scipy.optimize import linear_sum_assignment

    row, column = linear_sum_assignment(hops(among.links, among.nodes), maximize=True)
    return among.nodes[np.asarray(row)], among.nodes[np.asarray(column)]


traffics.register("worst_pairing")(
    Traffic("every node with one other, the sum of hops as large as it can be", worst_pairing)
)


def worst_permutation(among: Allocated, _seed: int) -> Pairs:
    """The permutation that loads a link most, when pairs are spread evenly over their shortest paths.

    Under routing `shortest` no permutation has more on any link; under another routing one may.
    """
    return worst_of_permutations(among).pairs


traffics.register("worst_permutation")(
    Traffic(
        "of all permutations one that loads a link most, each pair evenly over its shortest paths",
        worst_permutation,
    )
)
