"""Congestion, bounds and bandwidth of a traffic; the worst case of Hoefler et al. 2010."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.study import (
    BetaFactor,
    Carried,
    Spread,
    TrafficStudy,
    default_routing,
    redrawn,
    spread_of_samples,
    study,
)


def of(spec: str, traffic: str, routing: str = "", **more: int) -> TrafficStudy:
    network = parse_spec(spec)
    among = Allocated(Links.of(network), np.arange(more.pop("allocation", network.nodes)))
    return study(among, traffic=traffic, routing=routing or default_routing(network), size_B=1000.0, **more)


@pytest.mark.parametrize("k", [4, 6, 8])
def test_the_worst_pairing_of_hoefler_2010(k: int) -> None:
    # Section 3: six streams of each node, 3k/2 of them on each link; equation (2) has it as a factor of β.
    found = of(f"torus:{k}x{k}x{k}", "worst_pairing")
    assert 6 * found.worst == pytest.approx(1.5 * k)
    assert 6 * found.average == pytest.approx(1.5 * k)
    assert found.factor_of_all_links == pytest.approx(1.5 * k)
    assert found.answer(1).beta_factor == BetaFactor(low=1.0, high=1.5 * k, streams=6)


def test_all_links_are_those_of_senders(graph: Callable[..., Network]) -> None:
    # Three ways from 0 to 4, over 1, 2 and 3: a third of a message on each, and three messages fit. Node 5, with
    # a single link, is left over by a bisection of three.
    made = graph([(0, i, 1) for i in (1, 2, 3)] + [(i, 4, 1) for i in (1, 2, 3)] + [(1, 5, 1)], 6)
    among = Allocated(Links.of(made), np.array([0, 4, 5]))
    found = study(among, traffic="bisection", routing="shortest", size_B=1000.0)
    assert found.worst == pytest.approx(1 / 3)
    assert found.injection_links == 3
    assert found.factor_of_all_links == pytest.approx(1.0)


def test_the_sender_with_the_fewest_links_says_how_many_streams_all_can_send(
    graph: Callable[..., Network],
) -> None:
    # A path 0-1-2: the ends have one link, the middle two.
    among = Allocated(Links.of(graph([(0, 1, 1), (1, 2, 1)], 3)), np.arange(3))
    found = study(among, traffic="worst_pairing", routing="shortest", size_B=1.0)
    assert found.injection_links == 1
    # Only the ends send, by one link each.
    assert found.factor_of_all_links == found.worst


def test_bandwidth_of_a_tapered_tree() -> None:
    # 16 nodes of each of two leaves talk to the other over 8 uplinks: half a link for each.
    found = of("fat-tree:nodes=32,leaf-ports=16:8,spines=4,spine-ports=8,link=100Gbit/s", "bisection")
    assert found.worst == pytest.approx(2.0)
    assert found.fraction == pytest.approx(0.5)
    assert found.answer(1).bandwidth_per_node.bandwidth_B_per_s == pytest.approx(6.25e9)
    # 2 × 1000 B at 12.5 GB/s.
    assert found.time_s == pytest.approx(1.6e-7)


def test_faster_uplinks_carry_more() -> None:
    # As above with links up four times as fast: the nodes' own become the bottleneck.
    spec = "fat-tree:nodes=32,leaf-ports=16:8,spines=4,spine-ports=8,link=100Gbit/s,uplink=400Gbit/s"
    found = of(spec, "bisection")
    assert found.worst == pytest.approx(1.0)
    assert found.load.carried_B.max() == pytest.approx(2000.0)


def test_without_bandwidths_times_are_not_known() -> None:
    found = of("hypercube:3", "alltoall")
    assert found.time_s is None
    assert found.answer(1).bandwidth_per_node.bandwidth_B_per_s is None
    # Seven messages out, four on each link.
    assert found.fraction == pytest.approx(7 / 4)


def test_the_exact_alltoall_stands_beside_the_routed_one() -> None:
    assert of("torus:4x4x4", "alltoall").answer(1).exact_alltoall_congestion == 32
    assert of("torus:4x4x4", "alltoall", allocation=8).answer(1).exact_alltoall_congestion is None


def test_most_loaded_links_by_name() -> None:
    most_loaded = of("torus:8", "worst_pairing", allocation=2).answer(3).most_loaded
    assert most_loaded[0] == Carried("node 0 → node 1", bytes=1000.0, messages=1.0, congestion=1.0)
    assert [row.link for row in most_loaded] == ["node 0 → node 1", "node 1 → node 0"]


def test_samples_of_random_traffic() -> None:
    tree = "fat-tree:nodes=16,leaf-ports=4:4,spines=2,spine-ports=8"
    worst = [of(tree, "permutation", "d_mod_k", seed=seed).worst for seed in range(3, 8)]
    shares: list[float] = []
    first = of(tree, "permutation", "d_mod_k", seed=3)
    spread = spread_of_samples(list(redrawn(first, 5, lambda share, _: shares.append(share))))
    assert shares == [0, 0.2, 0.4, 0.6, 0.8]
    assert spread.count == 5
    assert spread.worst == Spread(min(worst), sorted(worst)[2], spread.worst.mean, max(worst))
    assert spread.worst.mean == pytest.approx(sum(worst) / 5)
    assert spread.fraction_of_a_link.largest == pytest.approx(1 / min(worst))


def test_default_routing() -> None:
    assert default_routing(parse_spec("fat-tree:nodes=8,leaf-ports=4:4,spines=2,spine-ports=8")) == "up_down"
    assert default_routing(parse_spec("dragonfly:routers=2,nodes-per-router=1,global-links=1")) == "shortest"
    assert default_routing(parse_spec("torus:4")) == "shortest"


def test_traffic_that_sends_nothing() -> None:
    with pytest.raises(RequestError, match="between 1 nodes sends nothing"):
        of("torus:4", "alltoall", allocation=1)
