"""Hops against all-pairs distances by another method, and against closed forms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from tests.factories import written

from hockney.errors import RequestError
from hockney.network.bisection.hops import hops
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Links
from hockney.network.traffic.walk import hops as routed

SPECS = [
    "torus:4x3x2",
    "torus:5",
    "hypercube:4",
    "single-switch:5,links-per-node=2",
    "fat-tree:nodes=21,links-per-node=2,leaf-ports=8:4,spines=2,spine-ports=12",
    "fat-tree:nodes=16,leaf-ports=2:2,spines=2,spine-ports=2:2,cores=4,core-ports=4",
    "dragonfly:routers=3,nodes-per-router=2,global-links=1",
]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("every", [1, 2, 3])
def test_every_pair(spec: str, every: int) -> None:
    network = parse_spec(spec)
    nodes = np.arange(0, network.nodes, every)
    all_pairs = shortest_path(network.matrix(network.parallel), method="FW", unweighted=True)
    wanted = Counter(int(all_pairs[a, b]) for a in nodes for b in nodes if a < b)
    found = hops(network, nodes)
    assert found.pairs == dict(sorted(wanted.items()))
    assert found.diameter == max(wanted)
    assert found.average == pytest.approx(sum(k * v for k, v in wanted.items()) / wanted.total())


def test_the_histogram_of_a_hypercube_is_binomial() -> None:
    # 2ⁿ⁻¹·C(n, k) pairs differ in k bits.
    assert hops(parse_spec("hypercube:4"), np.arange(16)).pairs == {1: 32, 2: 48, 3: 32, 4: 8}


def test_a_large_torus() -> None:
    # An even extent k contributes k/2 to the diameter and k/4 on average, a node's way to itself included.
    found = hops(parse_spec("torus:20x20x24"), np.arange(9600))
    assert found.diameter == 10 + 10 + 12
    assert found.average == pytest.approx((5 + 5 + 6) * 9600 / 9599)


def test_nodes_that_hang_on_nodes(tmp_path: Path) -> None:
    path = written(tmp_path / "chain.txt", "a b\nb c\n")
    assert hops(parse_spec(f"edges:{path}"), np.arange(3)).pairs == {1: 2, 2: 1}
    path.write_text("a b\n", encoding="utf-8")
    assert hops(parse_spec(f"edges:{path}"), np.arange(2)).pairs == {1: 1}


def test_nodes_of_a_network_with_switches_pass_nothing_on(tmp_path: Path) -> None:
    """a is on both switches; from b to c it goes s u v t, five links, not s a t, four."""
    path = tmp_path / "two_homes.txt"
    ring = "switch s t u v\na s\na t\nb s\nc t\ns u\nu v\nv t\n"
    path.write_text(ring, encoding="utf-8")
    network = parse_spec(f"edges:{path}")
    assert hops(network, np.arange(3)).pairs == {2: 2, 5: 1}
    # The same as messages go.
    assert np.array_equal(routed(Links.of(network), np.arange(3)), [[0, 2, 2], [2, 0, 5], [2, 5, 0]])
    # Two nodes that are linked themselves need no switch, but are none either: d reaches s over its own link.
    path.write_text(ring + "b d\nd s\n", encoding="utf-8")
    assert hops(parse_spec(f"edges:{path}"), np.arange(4)).pairs == {1: 1, 2: 3, 5: 2}


def test_nodes_with_no_way_but_through_nodes_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "gateway.txt", "switch s t\na s\na t\nb s\nc t\n")
    network = parse_spec(f"edges:{path}")
    with pytest.raises(RequestError, match=r"no way from .* but through nodes"):
        hops(network, np.arange(3))
    assert hops(network, np.arange(2)).pairs == {2: 1}


def test_one_node_has_no_pairs() -> None:
    found = hops(parse_spec("torus:3x3"), np.array([4]))
    assert (found.pairs, found.diameter, found.average) == ({}, 0, None)
