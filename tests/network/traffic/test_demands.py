"""Traffic between nodes, each kind by what defines it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.demands import traffics
from hockney.network.traffic.walk import hops

Made = Callable[..., Network]


def among(spec: str, nodes: list[int] | None = None) -> Allocated:
    network = parse_spec(spec)
    return Allocated(Links.of(network), np.arange(network.nodes) if nodes is None else np.array(nodes))


def pairs(name: str, of: Allocated, seed: int = 0) -> list[tuple[int, int]]:
    source, target = traffics.get(name).pairs(of, seed)
    return list(zip(source.tolist(), target.tolist(), strict=True))


def test_alltoall_is_all_ordered_pairs() -> None:
    assert sorted(pairs("alltoall", among("single-switch:9", [2, 5, 7]))) == sorted(
        itertools.permutations([2, 5, 7], 2)
    )


def test_nearest_neighbour() -> None:
    # Along the links of a torus, and of those between allocated nodes alone; in leaf order below switches.
    assert len(pairs("nearest_neighbour", among("torus:3x3"))) == 9 * 4
    assert sorted(pairs("nearest_neighbour", among("torus:5", [0, 1, 3]))) == [(0, 1), (1, 0)]
    assert sorted(pairs("nearest_neighbour", among("single-switch:3"))) == sorted(
        itertools.permutations(range(3), 2)
    )
    assert sorted(pairs("nearest_neighbour", among("single-switch:2"))) == [(0, 1), (1, 0)]


def test_permutation_is_one_and_follows_its_seed() -> None:
    of = among("single-switch:50", list(range(0, 50, 2)))
    first = pairs("permutation", of, 1)
    assert sorted(target for _, target in first) == sorted(source for source, _ in first) == list(range(0, 50, 2))
    assert first == pairs("permutation", of, 1)
    assert first != pairs("permutation", of, 2)


@pytest.mark.parametrize("name", ["bisection", "random_bisection"])
def test_bisections_pair_two_halves_both_ways(name: str) -> None:
    found = pairs(name, among("single-switch:9"))
    assert len(found) == 8
    assert {(b, a) for a, b in found} == set(found)
    assert len({a for a, _ in found}) == 8


def test_random_halves_are_one_way_of_a_bisection() -> None:
    found, both = (pairs(name, among("single-switch:9"), 3) for name in ("random_halves", "random_bisection"))
    assert len(found) == 4
    assert {*found, *((b, a) for a, b in found)} == set(both)


def test_bisection_is_first_half_with_second() -> None:
    assert (1, 5) in pairs("bisection", among("single-switch:8"))


def test_bit_complement_turns_all_bits() -> None:
    assert pairs("bit_complement", among("hypercube:3")) == [(i, ~i & 7) for i in range(8)]
    with pytest.raises(RequestError, match="not 6"):
        pairs("bit_complement", among("single-switch:6"))


def test_transpose() -> None:
    assert pairs("transpose", among("single-switch:9"))[:4] == [(0, 0), (1, 3), (2, 6), (3, 1)]
    # (0, 1, 2) of 3×3×3 is node 5 and sends to (2, 1, 0), node 21.
    assert pairs("transpose", among("torus:3x3x3"))[5] == (5, 21)
    with pytest.raises(RequestError, match="not 8"):
        pairs("transpose", among("single-switch:8"))


def test_tornado_goes_almost_half_way_round() -> None:
    # ⌈8/2⌉ − 1 = 3 and ⌈5/2⌉ − 1 = 2.
    found = pairs("tornado", among("torus:8x5"))
    assert found[0] == (0, 3 * 5 + 2)
    assert found[6 * 5 + 4] == (34, 1 * 5 + 1)
    for of in (among("single-switch:4"), among("torus:4", [0, 1])):
        with pytest.raises(RequestError, match="whole torus"):
            pairs("tornado", of)


@pytest.mark.parametrize("spec", ["torus:4x5", "torus:4x2x3", "hypercube:4"])
def test_worst_pairing_reaches_the_diameter_from_every_node(spec: str) -> None:
    of = among(spec)
    apart = hops(of.links, of.nodes)
    assert [apart[a, b] for a, b in pairs("worst_pairing", of)] == [apart.max()] * len(of.nodes)


def test_worst_pairing_of_any_graph_has_the_largest_sum_of_all(graph: Made) -> None:
    # A path with a branch: 0-1-2-3-4, 2-5.
    of = Allocated(Links.of(graph([(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (2, 5, 1)], 6)), np.arange(6))
    apart = hops(of.links, of.nodes)
    largest = max(sum(apart[i, to] for i, to in enumerate(order)) for order in itertools.permutations(range(6)))
    found = pairs("worst_pairing", of)
    assert sorted(target for _, target in found) == list(range(6))
    assert sum(apart[a, b] for a, b in found) == largest


def test_worst_pairing_of_an_allocation_stays_within() -> None:
    found = pairs("worst_pairing", among("torus:8", [0, 1, 2, 3]))
    assert {a for a, _ in found} == {b for _, b in found} == {0, 1, 2, 3}


def test_what_takes_too_long_or_too_much_memory_is_refused() -> None:
    with pytest.raises(RequestError, match="worst pairing of 2049 nodes"):
        pairs("worst_pairing", among("single-switch:2049"))
    with pytest.raises(RequestError, match="more than 16777216"):
        pairs("alltoall", among("single-switch:4097"))


def test_worst_permutation_of_a_ring_is_tornado() -> None:
    # 3 pairs over one link and no more: hops of sender and receiver to it add up to 3, or to 4 by half.
    found = pairs("worst_permutation", among("torus:8"))
    assert sorted(target for _, target in found) == list(range(8))
    over = [{(a + step) % 8 for step in range((b - a) % 8)} for a, b in found if 0 < (b - a) % 8 < 4]
    back = [{(a - step) % 8 for step in range((a - b) % 8)} for a, b in found if 0 < (a - b) % 8 < 4]
    shared = max(sum(link in one for one in ways) for ways in (over, back) for link in range(8))
    assert shared == 3
