"""The worst permutation against all permutations, routed by the code that routes every traffic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic import worst
from hockney.network.traffic.base import Allocated, Demand, Links
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.study import study
from hockney.network.traffic.worst import worst_of_permutations


def allocated(spec: str, nodes: list[int] | None = None) -> Allocated:
    network = parse_spec(spec)
    return Allocated(Links.of(network), np.arange(network.nodes) if nodes is None else np.array(nodes))


def of_all_permutations(among: Allocated) -> float:
    """Loads are sums over pairs: each pair is routed once, then all n! permutations are added up."""
    nodes = among.nodes
    of_pair = np.zeros((len(nodes), len(nodes), len(among.links.tail)))
    for i, j in itertools.permutations(range(len(nodes)), 2):
        of_pair[i, j] = routings.get("shortest").load(among.links, Demand.of([nodes[i]], [nodes[j]])).congestion_B
    largest = 0.0
    everybody = np.arange(len(nodes))
    for one in itertools.permutations(range(len(nodes))):
        load: NDArray[np.float64] = of_pair[everybody, list(one)].sum(axis=0)
        largest = max(largest, float(load.max()))
    return largest


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        ("torus:7", None),
        ("torus:2x3", None),
        ("torus:2x4", None),
        ("hypercube:3", None),
        ("torus:4x4", [0, 1, 2, 5, 6, 9, 15]),
        (
            "fat-tree:nodes=8,leaf-ports=4:2,spines=2,spine-ports=4,link=10Gbit/s,uplink=40Gbit/s",
            [0, 1, 2, 4, 5, 7],
        ),
        ("dragonfly:routers=2,nodes-per-router=1,global-links=1", None),
    ],
)
def test_all_permutations_of_a_few_nodes(spec: str, nodes: list[int] | None) -> None:
    among = allocated(spec, nodes)
    found = worst_of_permutations(among)
    assert found.congestion == pytest.approx(of_all_permutations(among))  # rounding of sums of shares
    assert sorted(found.pairs[0]) == sorted(found.pairs[1]) == sorted(among.nodes)


@pytest.mark.parametrize("spec", ["torus:3x4x5", "torus:4x2x6", "hypercube:5"])
def test_symmetric_links_are_left_out_rightly(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    among = allocated(spec)
    short = worst_of_permutations(among).congestion
    monkeypatch.setattr(worst, "_representatives", lambda links: np.arange(len(links.tail)))
    assert worst_of_permutations(among).congestion == pytest.approx(short)


@pytest.mark.parametrize(
    "spec", ["torus:4x6", "hypercube:5", "dragonfly:routers=3,nodes-per-router=2,global-links=1"]
)
def test_routed_it_loads_a_link_as_much_as_it_says(spec: str) -> None:
    among = allocated(spec)
    routed = study(among, traffic="worst_permutation", routing="shortest", size_B=1.0)
    assert routed.worst == pytest.approx(worst_of_permutations(among).congestion)


def test_on_a_large_torus_it_exceeds_tornado_and_distance() -> None:
    # Tornado: 3 of 8 links in each dimension; the farthest: 4, half each way.
    among = allocated("torus:8x8x8")
    assert study(among, traffic="tornado", routing="shortest", size_B=1.0).worst == pytest.approx(3)
    assert study(among, traffic="worst_pairing", routing="shortest", size_B=1.0).worst == pytest.approx(2)
    assert worst_of_permutations(among).congestion > 3


def test_too_many_nodes_and_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RequestError, match="more than 2048 do"):
        worst_of_permutations(allocated("torus:16x16x16"))
    with pytest.raises(RequestError, match="more than 512 do"):
        worst_of_permutations(allocated("torus:16x16x16", list(range(513))))
    monkeypatch.setattr(worst, "LONGEST_S", -1.0)
    with pytest.raises(RequestError, match="takes longer"):
        worst_of_permutations(allocated("torus:4x4"))
