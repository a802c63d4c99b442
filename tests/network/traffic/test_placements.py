"""Placements: linear, cyclic, random, folded, blocked, morton, hilbert and optimised."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.patterns.base import Volumes, parse_pattern
from hockney.network.traffic.placements import (
    NotApplicableError,
    Place,
    Situation,
    both_ways,
    greedy,
    placements,
    swapped,
)
from hockney.network.traffic.study import default_routing

TREE = "fat-tree:nodes=16,leaf-ports=4:2,spines=2,spine-ports=8"


def situation(pattern: str, topology: str, ppn: int = 1, seed: int = 0, nodes: int | None = None) -> Situation:
    network = parse_spec(topology)
    among = Allocated(Links.of(network), np.arange(nodes or network.nodes))
    return Situation(parse_pattern(pattern, Volumes()), among, ppn, default_routing(network), seed)


def place(name: str, of: Situation) -> Place:
    return placements.get(name).place(of)


@pytest.mark.parametrize(
    "of",
    [
        situation("jacobi:8x4", "torus:4x8"),
        situation("jacobi:8x4x2", TREE, ppn=4),
        situation("ring:12", "torus:3x4"),
        situation("jacobi:6x5", "dragonfly:routers=2,nodes-per-router=1,global-links=2", ppn=3),
        situation("alltoall:8", "hypercube:3"),
    ],
    ids=lambda of: of.pattern.spec,
)
def test_every_node_gets_its_ranks(of: Situation) -> None:
    done = 0
    for name in placements.names():
        try:
            found = place(name, of)
        except NotApplicableError:
            continue
        assert np.bincount(found, minlength=of.nodes).tolist() == [of.ppn] * of.nodes, name
        done += 1
    assert done >= 5


def test_linear_and_cyclic() -> None:
    of = situation("ring:6", "torus:3", ppn=2)
    assert place("linear", of).tolist() == [0, 0, 1, 1, 2, 2]
    assert place("cyclic", of).tolist() == [0, 1, 2, 0, 1, 2]
    with pytest.raises(NotApplicableError, match="linear one"):
        place("cyclic", situation("ring:6", "torus:6"))


def test_random_follows_its_seed() -> None:
    one, other = (place("random", situation("ring:64", "torus:8x8", seed=seed)) for seed in (1, 2))
    assert one.tolist() == place("random", situation("ring:64", "torus:8x8", seed=1)).tolist()
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("pattern", "topology", "ppn"),
    [
        ("jacobi:8x8x4", "torus:4x8x8", 1),
        ("jacobi:16x4", "torus:4x4x4", 1),
        ("ring:64", "torus:4x4x4", 1),
        ("jacobi:8x4", "hypercube:5", 1),
        ("jacobi:8x8x4", "torus:4x4x2", 8),
    ],
)
def test_folded_keeps_neighbours_one_hop_apart(pattern: str, topology: str, ppn: int) -> None:
    of = situation(pattern, topology, ppn)
    at, demand = place("folded", of), of.pattern.demand
    assert of.hops[at[demand.source], at[demand.target]].max() == 1


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (situation("jacobi:4x4", TREE), "no whole torus"),
        (situation("ring:4", "torus:8", nodes=4), "no whole torus"),
        (situation("jacobi:6x6", "torus:4x9"), "6x6 do not match those of 4x9"),
    ],
)
def test_folded_says_why_not(of: Situation, said: str) -> None:
    with pytest.raises(NotApplicableError, match=said):
        place("folded", of)


def test_blocked_puts_boxes_on_nodes_and_leaf_switches() -> None:
    # Four ranks on a node, four nodes on a leaf: of 8×8 ranks a node has a square of 2×2, a leaf one of 4×4.
    of = situation("jacobi:8x8", TREE, ppn=4)
    found = place("blocked", of).reshape(8, 8)
    for row, column in itertools.product(range(8), range(8)):
        assert found[row, column] == found[row // 2 * 2, column // 2 * 2]
        assert found[row, column] // 4 == found[row // 4 * 4, column // 4 * 4] // 4
    with pytest.raises(NotApplicableError):
        place("blocked", situation("ring:16", TREE))


@pytest.mark.parametrize("name", ["hilbert", "morton"])
def test_curves_put_cubes_on_nodes(name: str) -> None:
    found = place(name, situation("jacobi:8x8", "single-switch:16", ppn=4)).reshape(8, 8)
    for row, column in itertools.product(range(8), range(8)):
        assert found[row, column] == found[row // 2 * 2, column // 2 * 2]


def matrix_of(of: Situation, at: Place) -> float:
    """Hop-bytes summed pair by pair."""
    demand = of.pattern.demand
    ends = zip(demand.source, demand.target, demand.size_B, strict=True)
    return float(sum(size * of.hops[at[a], at[b]] for a, b, size in ends))


@pytest.mark.parametrize("seed", range(3))
def test_after_swaps_no_swap_helps(seed: int) -> None:
    of = situation("jacobi:4x3x2", "torus:3x4", ppn=2, seed=seed)
    start = place("random", of)
    found = swapped(of, both_ways(of), start)
    least = matrix_of(of, found)
    assert least < matrix_of(of, start)
    assert least == pytest.approx(of.hop_bytes(found))
    for one, other in itertools.combinations(range(24), 2):
        turned = found.copy()
        turned[[one, other]] = found[[other, one]]
        assert matrix_of(of, turned) >= least - 1e-9


def test_swaps_leave_an_alltoall_as_it_is() -> None:
    # All maps are equal, and every two ranks talk to each other: a swap that counted their own way would gain.
    of = situation("alltoall:7", "torus:7", seed=3)
    start = place("random", of)
    assert swapped(of, both_ways(of), start).tolist() == start.tolist()


def test_greedy_puts_heavy_pairs_together() -> None:
    of = situation("ring:16", "torus:16")
    # Whoever comes next has a neighbour that is placed, and there is a free node next to it, or next to the row.
    assert of.hop_bytes(greedy(of, both_ways(of))) == 32


def test_optimised_is_never_behind_the_others() -> None:
    of = situation("jacobi:8x4x2", TREE, ppn=4)
    best = of.load(place("optimised", of)).worst_B
    others = [name for name in placements.names() if name not in ("folded", "cyclic")]
    assert all(best <= of.load(place(name, of)).worst_B + 1e-9 for name in others)


def test_optimised_undoes_a_shuffle() -> None:
    # A ring whose neighbours are 5 numbers apart: linear is bad, and a ring of 16 nodes could have every hop 1.
    of = situation("ring:16", "torus:16")
    turned = Situation(of.pattern, Allocated(of.among.links, np.arange(16) * 5 % 16), 1, "shortest", 0)
    assert turned.hop_bytes(place("linear", turned)) == 32 * 5
    assert turned.hop_bytes(place("optimised", turned)) == 32


def test_optimised_says_where_it_takes_too_long() -> None:
    with pytest.raises(NotApplicableError, match="2050 ranks take too long"):
        place("optimised", situation("ring:2050", "torus:2050"))
