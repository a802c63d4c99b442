"""Ideal adaptive routing against listed paths, and against what is known in closed form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Demand, Links
from hockney.network.traffic.routings.shortest import shortest
from hockney.network.traffic.study import alltoall_congestion
from hockney.network.traffic.walk import hops

Made = Callable[..., Network]
Brute = Callable[[Links, Demand], Any]


def everybody(nodes: int) -> Demand:
    source, target = np.divmod(np.arange(nodes**2), nodes)
    return Demand.of(source, target)


def random_core(generator: np.random.Generator, count: int, first: int) -> list[tuple[int, int, int]]:
    """A random tree, which keeps it connected, with chords and second cables, which make several ways."""
    tree = [(int(generator.integers(i)), i, int(generator.integers(1, 3))) for i in range(1, count)]
    drawn = {(min(pair), max(pair)) for pair in generator.integers(0, count, (8, 2)).tolist()}
    chords = {(a, b) for a, b in drawn if a < b} - {(a, b) for a, b, _ in tree}
    return [(first + a, first + b, n) for a, b, n in [*tree, *((a, b, 1) for a, b in sorted(chords))]]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_switched", [False, True])
def test_random_graphs_as_by_listing_all_paths(
    graph: Made, brute_force: Brute, seed: int, is_switched: bool
) -> None:
    generator = np.random.default_rng(seed)
    links = random_core(generator, 7, 5 if is_switched else 0)
    if is_switched:
        # Each node on two switches, or on one twice: if nodes passed things on, ways would be shorter.
        links += [(node, 5 + int(to), 1) for node in range(5) for to in generator.integers(0, 7, 2)]
    found = Links.of(graph(links, 5, 7) if is_switched else graph(links, 7))
    sends = generator.integers(0, found.network.nodes, (12, 2))
    demand = Demand.of(sends[:, 0], sends[:, 1], generator.integers(1, 9, 12))
    carried = shortest(found, demand)
    assert carried == pytest.approx(brute_force(found, demand))
    assert carried.sum() > 0


def test_paths_and_not_ways_out_share_evenly(graph: Made) -> None:
    # From 0 to 4: one path through 1, and through 2 two cables on to 4. Ways out would share by halves.
    links = Links.of(graph([(0, 1, 1), (0, 2, 1), (1, 4, 1), (2, 4, 2), (3, 4, 1)], 5))
    carried = shortest(links, Demand.of([0], [4]))
    by_ends = {(int(a), int(b)): 0.0 for a, b in zip(links.tail, links.head, strict=True)}
    for link, load in enumerate(carried):
        by_ends[int(links.tail[link]), int(links.head[link])] += load
    assert by_ends[0, 1] == pytest.approx(1 / 3)
    assert by_ends[0, 2] == pytest.approx(2 / 3)


def test_nodes_of_a_switched_network_pass_nothing_on(graph: Made) -> None:
    # Node 0 hangs on both switches: between nodes 1 and 2 it must not be a bridge, the link of the switches is.
    links = Links.of(graph([(0, 3, 1), (0, 4, 1), (1, 3, 1), (2, 4, 1), (3, 5, 1), (4, 5, 1)], 3, 3))
    carried = shortest(links, Demand.of([1], [2]))
    used = {(int(links.tail[i]), int(links.head[i])) for i in np.flatnonzero(carried)}
    assert used == {(1, 3), (3, 5), (5, 4), (4, 2)}


@pytest.mark.parametrize("extent", [3, 4, 5, 6, 7, 8])
def test_alltoall_on_a_ring(extent: int) -> None:
    links = Links.of(parse_spec(f"torus:{extent}"))
    # Offsets add up to ⌊k²/4⌋ hops for each node, on two links out of it.
    assert shortest(links, everybody(extent)) == pytest.approx(np.full(2 * extent, extent**2 // 4 / 2))


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_alltoall_on_a_cubic_torus_is_the_exact_congestion(k: int) -> None:
    links = Links.of(parse_spec(f"torus:{k}x{k}x{k}"))
    exact = Fraction(k**2 * (k**2 - 1), 8) if k % 2 else Fraction(k**4, 8)
    assert alltoall_congestion((k, k, k)) == exact
    assert shortest(links, everybody(k**3)) == pytest.approx(np.full(6 * k**3, float(exact)))


@pytest.mark.parametrize("shape", ["4x6", "2x5", "2x2x3", "7"])
def test_alltoall_congestion_of_unequal_extents(shape: str) -> None:
    network = parse_spec(f"torus:{shape}")
    carried = shortest(Links.of(network), everybody(network.nodes))
    assert carried.max() == pytest.approx(float(alltoall_congestion(network.shape)))


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_alltoall_on_a_hypercube(dimension: int) -> None:
    network = parse_spec(f"hypercube:{dimension}")
    # Each link is crossed once by every node of its half to one partner coordinate: N/2 messages each way.
    assert shortest(Links.of(network), everybody(network.nodes)) == pytest.approx(
        np.full(2 * len(network.ends), network.nodes / 2)
    )


TREE = "fat-tree:nodes=10,leaf-ports=3:4,spines=2,spine-ports=16"


def test_more_hops_than_memory_are_refused() -> None:
    with pytest.raises(RequestError, match="any two of 8193 nodes"):
        hops(Links.of(parse_spec("torus:8193")), np.arange(8193))


def test_hops_are_counted_as_on_paper() -> None:
    tree = Links.of(parse_spec(TREE))
    # Leaves of three nodes: 0 1 2, 3 4 5, …
    assert hops(tree, np.array([0, 2, 3])).tolist() == [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    torus = parse_spec("torus:5x4")
    at = np.stack(np.unravel_index(np.arange(20), (5, 4)))
    apart = np.abs(at[:, :, None] - at[:, None])
    around = np.minimum(apart, np.array([5, 4])[:, None, None] - apart).sum(axis=0)
    assert np.array_equal(hops(Links.of(torus), np.arange(20)), around)
