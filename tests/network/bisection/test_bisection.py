"""Bisections against brute force over all balanced splits, and against closed forms on larger graphs."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from tests.factories import written

from hockney.errors import RequestError
from hockney.network.bisection.bisection import Bisection, bisection, cut
from hockney.network.bisection.bounds import lower_bound
from hockney.network.bisection.closed_forms import known_bisection
from hockney.network.bisection.reduced import reduce
from hockney.network.topologies.base import Network, parse_spec


def brute(network: Network, allocation: list[int]) -> int:
    """The least maximum flow between the halves of any balanced split: cuts with all other vertices free."""
    size = network.vertices
    a, b = network.ends.T
    infinite = int(network.parallel.sum()) + 1
    least = infinite
    for half in itertools.combinations(allocation, len(allocation) // 2):
        other = [node for node in allocation if node not in half]
        rows = [*a, *b, *[size] * len(half), *other]
        columns = [*b, *a, *half, *[size + 1] * len(other)]
        capacity = [*network.parallel, *network.parallel, *[infinite] * len(allocation)]
        data = np.array(capacity, np.int32), (np.array(rows), np.array(columns))
        graph = csr_array(data, shape=(size + 2, size + 2))
        least = min(least, int(maximum_flow(graph, size, size + 1).flow_value))
    return least


def width(network: Network, allocation: NDArray[np.int64] | None = None) -> Bisection:
    nodes = np.arange(network.nodes) if allocation is None else allocation
    found = bisection(network, nodes, network.parallel.astype(float))
    on_side = int(found.side[nodes].sum())
    assert on_side in (len(nodes) // 2, len(nodes) - len(nodes) // 2)
    assert cut(network, found.side, network.parallel.astype(float)) == found.high
    return found


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        ("torus:3x3", 9),
        ("torus:3x3", 6),
        ("torus:4x3", 5),
        ("torus:5x2", 10),
        ("torus:3x2x2", 7),
        ("torus:7", 7),
        ("torus:9", 4),
        ("hypercube:3", 8),
        ("hypercube:3", 5),
        ("hypercube:4", 6),
        ("single-switch:7,links-per-node=3", 7),
        # One link of a node against two of a leaf, and the other way around.
        ("fat-tree:nodes=6,leaf-ports=2:2,spines=2,spine-ports=4", 6),
        ("fat-tree:nodes=7,links-per-node=2,leaf-ports=6:2,spines=1,spine-ports=8", 7),
        ("fat-tree:nodes=8,leaf-ports=2:1,spines=1,spine-ports=2:2,cores=1,core-ports=4", 8),
        # Cores in planes: a spine of one plane could choose another side than its neighbour, and gains nothing.
        ("fat-tree:nodes=6,leaf-ports=1:2,spines=2,spine-ports=2:2,cores=4,core-ports=3", 6),
        ("fat-tree:nodes=8,leaf-ports=2:2,spines=2,spine-ports=2:1,cores=2,core-ports=2", 8),
        ("dragonfly:routers=2,nodes-per-router=1,global-links=1", 6),
        ("dragonfly:routers=2,nodes-per-router=2,global-links=1", 7),
        ("dragonfly:routers=3,nodes-per-router=1,global-links=1", 8),
    ],
)
def test_brute_force_finds_no_smaller_and_no_larger_one(spec: str, nodes: int) -> None:
    network = parse_spec(spec)
    found = width(network, np.arange(nodes))
    least = brute(network, list(range(nodes)))
    assert found.low <= least <= found.high <= 1.5 * least
    is_proven = spec.startswith(("fat-tree", "single-switch")) or known_bisection(
        network, np.ones(len(network.ends))
    )
    if is_proven and nodes == network.nodes:
        assert (found.is_exact, found.high) == (True, least)


@st.composite
def connected(draw: st.DrawFn) -> str:
    """Lines of an edge list: a random tree and some more links, of nodes and switches."""
    nodes, switches = draw(st.integers(2, 6)), draw(st.integers(0, 4))
    names = [f"n{i}" for i in range(nodes)] + [f"s{i}" for i in range(switches)]
    order = draw(st.permutations(names))
    pairs = {tuple(sorted((order[i], order[draw(st.integers(0, i - 1))]))) for i in range(1, len(order))}
    for _ in range(draw(st.integers(0, 8))):
        pair = draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
        pairs.add(tuple(sorted(pair)))
    lines = [f"{a} {b} x{draw(st.integers(1, 3))}" for a, b in sorted(pairs)]
    head = [f"node {' '.join(names[:nodes])}"] + [f"switch {name}" for name in names[nodes:]]
    return "\n".join([*head, *lines]) + "\n"


@settings(max_examples=60)
@given(connected(), st.data())
def test_any_small_graph_against_brute_force(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    path = written(tmp_path_factory.mktemp("edges") / "network.txt", text)
    network = parse_spec(f"edges:{path}")
    nodes = data.draw(
        st.lists(st.integers(0, network.nodes - 1), min_size=2, max_size=network.nodes, unique=True)
    )
    allocation = np.array(sorted(nodes))
    least = brute(network, sorted(nodes))
    found = width(network, allocation)
    assert found.low <= least <= found.high
    assert not found.is_exact or found.high == least
    # What bounds large graphs holds on small ones.
    low, _ = lower_bound(reduce(network, allocation, network.parallel.astype(float)))
    assert low <= least * (1 + 1e-7)


def least_of_all_subsets(network: Network) -> int:
    """All balanced subsets of up to 16 nodes of a direct network at once."""
    subset = np.arange(2**network.nodes, dtype=np.int64)
    inside = sum((subset >> node & 1 for node in range(network.nodes)), np.zeros_like(subset))
    subset = subset[inside == network.nodes // 2]
    a, b = network.ends.T
    cuts = np.zeros(len(subset), np.int64)
    for i, j in zip(a, b, strict=True):
        cuts += (subset >> i ^ subset >> j) & 1
    return int(cuts.min())


@pytest.mark.parametrize(
    "shape", ["3", "4", "5x3", "3x5", "4x4", "4x3", "3x4", "4x2x2", "2x2x2x2", "4x1x4", "2x8", "7x2", "3x2x2"]
)
def test_closed_forms_of_small_tori(shape: str) -> None:
    network = parse_spec(f"torus:{shape}")
    least = least_of_all_subsets(network)
    found = width(network)
    assert found.low <= least <= found.high <= 1.5 * least
    if known := known_bisection(network, np.ones(len(network.ends))):
        assert known[0] == found.low == found.high == least


@pytest.mark.parametrize(("extent", "dimension"), [(4, 1), (4, 3), (8, 2), (8, 3), (16, 3), (6, 4)])
def test_torus_of_even_extents(extent: int, dimension: int) -> None:
    # 2k^(n−1) for a k-ary n-cube (Dally 1990).
    found = width(parse_spec("torus:" + "x".join([str(extent)] * dimension)))
    assert (found.low, found.high) == (2 * extent ** (dimension - 1),) * 2


@pytest.mark.parametrize(("extent", "dimension"), [(3, 3), (5, 2), (7, 3), (9, 2)])
def test_torus_of_odd_extents(extent: int, dimension: int) -> None:
    # 2(kⁿ − 1)/(k − 1): slabs of kⁿ⁻¹, kⁿ⁻², … 1.
    found = width(parse_spec("torus:" + "x".join([str(extent)] * dimension)))
    assert (found.low, found.high) == (2 * (extent**dimension - 1) // (extent - 1),) * 2


@pytest.mark.parametrize("dimension", [1, 2, 5, 10, 13])
def test_hypercube(dimension: int) -> None:
    assert width(parse_spec(f"hypercube:{dimension}")).high == 2 ** (dimension - 1)


def test_full_bisection_of_a_k_ary_fat_tree() -> None:
    # k = 8 (Al-Fares et al. 2008): k³/4 = 128 nodes, all uplinks as many as nodes.
    network = parse_spec("fat-tree:nodes=128,leaf-ports=4:4,spines=4,spine-ports=4:4,cores=16,core-ports=8")
    assert (network.attributes["pods"], network.attributes["core_ports_used"]) == (8, 8)
    assert width(network).high == 64


def test_large_fat_tree_is_exact() -> None:
    # 480 full leaves of 20 with 10 links up: half of them, and nothing else, is cut.
    network = parse_spec(
        "fat-tree:nodes=9600,leaf-ports=20:10,spines=10,spine-ports=20:20,cores=100,core-ports=48"
    )
    found = width(network)
    assert (found.high, found.method) == (240 * 10, "tree")


@pytest.mark.parametrize("allocation", [32, 45, 148])
def test_a_fat_tree_is_recognised_in_an_edge_list(tmp_path: Path, allocation: int) -> None:
    tree = parse_spec("fat-tree:nodes=148,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48")
    names = [name.replace(" ", "") for name in tree.names]
    lines = [f"node {' '.join(names[: tree.nodes])}", f"switch {' '.join(names[tree.nodes :])}"]
    bundles = zip(tree.ends.tolist(), tree.parallel, strict=True)
    lines += [f"{names[a]} {names[b]} x{parallel}" for (a, b), parallel in bundles]
    path = written(tmp_path / "tree.txt", "\n".join(lines))
    found = width(parse_spec(f"edges:{path}"), np.arange(allocation))
    assert found.method == "tree"
    assert found.high == width(tree, np.arange(allocation)).high


def test_nodes_of_one_switch_with_different_links(tmp_path: Path) -> None:
    # The two with one link each are cut off, wherever they come in the order.
    path = written(tmp_path / "star.txt", "switch s\na s x3\nb s\nc s\nd s x3\n")
    assert width(parse_spec(f"edges:{path}")).high == 2


def test_without_a_proof_there_are_two_bounds() -> None:
    network, nodes = parse_spec("torus:8x8x4"), np.arange(100)
    bounds = width(network, nodes)
    assert bounds.method == "bounds"
    # These 100 nodes are cut at no more links than a plane cuts all 256 at.
    assert 0 < bounds.low < bounds.high <= 64


def test_what_is_too_large_to_search_is_refused() -> None:
    with pytest.raises(RequestError, match="65536 vertices are too many"):
        width(parse_spec("hypercube:16"), np.arange(10))


def test_bandwidth_and_width_may_be_cut_in_different_places(tmp_path: Path) -> None:
    # Of the ring a b c d with d a fast, the fewest links are any two opposite ones, the slowest not the fast one.
    path = written(tmp_path / "ring.txt", "a b 1Gbit/s\nb c 5Gbit/s\nc d 1Gbit/s\nd a 10Gbit/s\n")
    network = parse_spec(f"edges:{path}")
    found = bisection(network, np.arange(4), network.bandwidth_bit_per_s)
    assert (found.low, found.high) == (2e9, 2e9)
    assert width(network).high == 2


@pytest.mark.parametrize(("nodes", "links"), [(0, 0), (1, 0), (2, 2), (3, 2)])
def test_few_nodes(nodes: int, links: int) -> None:
    network = parse_spec("single-switch:8,links-per-node=2")
    assert width(network, np.arange(nodes)).high == links


def test_a_complete_graph(tmp_path: Path) -> None:
    # Section 3c, 16 nodes that are connected pairwise: 8 · 8 connections, twice that if they are double links.
    for parallel, links in ((1, 64), (2, 128)):
        path = tmp_path / f"complete{parallel}.txt"
        pairs = itertools.combinations(range(16), 2)
        path.write_text("".join(f"{a} {b} x{parallel}\n" for a, b in pairs), encoding="utf-8")
        found = width(parse_spec(f"edges:{path}"))
        assert found.is_exact
        assert found.high == links == parallel * (math.comb(16, 2) - 2 * math.comb(8, 2))


@pytest.mark.parametrize(("nodes", "links"), [(16, 64), (7, 12), (2, 1)])
def test_every_split_of_a_complete_graph_is_alike(nodes: int, links: int) -> None:
    """Sixteen nodes pairwise: C(16, 2) − 2·C(8, 2) = 64 links; seven: 3 · 4."""
    assert width(parse_spec(f"complete:{nodes}")).high == links
