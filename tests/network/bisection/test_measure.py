"""What is said of a network: a fat tree of 148 nodes, as an exercise has it but corrected; ports; node lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.network.bisection.measure import measure
from hockney.network.topologies.base import parse_spec
from hockney.units import in_ranges, wholes

COOLMUC3 = "fat-tree:nodes=148,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48,link=100Gbit/s"


def about(spec: str, nodes: int | None = None) -> dict[str, Any]:
    network = parse_spec(spec)
    allocation = np.arange(network.nodes if nodes is None else nodes)
    return measure(network, allocation).answer().model_dump(mode="json")


def test_a_fat_tree_of_148_nodes_the_topology() -> None:
    data = about(COOLMUC3)
    assert (data["leaf_switches"], data["nodes_per_leaf"], data["nodes_of_last_leaf"]) == (10, 16, 4)
    assert data["taper"] == 2.0
    assert (data["spine_ports_used"], data["spine_ports_free"]) == (40, 8)
    assert data["spine_switches"] == 4
    leaf, spine = data["ports"]
    # Nine leaves are full; the tenth has 4 nodes of 2 links and 16 links up.
    assert leaf["used_by_one"] == [4 * 2 + 16, 48]
    assert (leaf["used"], leaf["free"]) == (148 * 2 + 10 * 16, 10 * 48 - 148 * 2 - 10 * 16)
    assert (spine["used"], spine["free"], spine["used_by_one"]) == (160, 4 * 8, [40, 40])
    assert data["links"] == 148 * 2 + 10 * 16


@pytest.mark.parametrize(
    ("nodes", "links", "diameter"),
    [
        # Two full leaves: all 16 uplinks of one. 1,600 Gbit/s, where the exercise prints 16,000.
        (32, 16, 4),
        # One leaf, taken as one point: 8 nodes of 2 links each.
        (16, 16, 2),
        # 74 of 148: four full leaves go together (64 links), ten nodes of a fifth are cut off (20).
        (148, 84, 4),
    ],
)
def test_a_fat_tree_of_148_nodes_the_bisection(nodes: int, links: int, diameter: int) -> None:
    data = about(COOLMUC3, nodes)
    assert data["bisection_links"] == data["bisection_links_low"] == data["bisection_links_high"] == links
    assert data["bisection_bandwidth_bit_per_s"] == links * 100e9
    assert data["bisection_links_exact"] is True
    assert data["diameter"] == diameter


def test_a_fat_tree_of_148_nodes_one_leaf_on_its_own() -> None:
    data = about("single-switch:16,links-per-node=2,link=100Gbit/s")
    assert (data["bisection_links"], data["bisection_bandwidth_bit_per_s"]) == (16, 1600e9)


def test_rates_of_levels_differ() -> None:
    # Half of the uplinks, twice as fast: no taper by rate, and the same bandwidth as 1:1.
    data = about("fat-tree:nodes=8,leaf-ports=4:2,spines=1,spine-ports=4,link=10Gbit/s,uplink=20Gbit/s")
    assert data["taper"] == 1.0
    assert data["bisection_links"] == 2
    assert data["bisection_bandwidth_bit_per_s"] == 40e9


def test_an_unknown_rate_is_not_guessed() -> None:
    data = about("torus:4x4")
    assert data["bisection_links"] == 8
    assert data["bisection_bandwidth_bit_per_s"] is None


def test_three_levels() -> None:
    # The 4-ary fat tree: 16 nodes, 8 leaves, 8 spines, 4 cores, every port of 4 in use (Al-Fares et al. 2008).
    data = about("fat-tree:nodes=16,leaf-ports=2:2,spines=2,spine-ports=2:2,cores=4,core-ports=4")
    assert (data["leaf_switches"], data["spine_switches"], data["core_switches"]) == (8, 8, 4)
    assert data["taper"] == 1.0
    assert data["tapers"] == [1.0, 1.0]
    assert [(one["kind"], one["free"]) for one in data["ports"]] == [("leaf", 0), ("spine", 0), ("core", 0)]
    assert data["diameter"] == 6
    assert data["bisection_links"] == 8


@given(st.sets(st.integers(0, 60), min_size=1))
def test_a_list_of_nodes_reads_back(nodes: set[int]) -> None:
    ordered = sorted(nodes)
    assert wholes(in_ranges(ordered), range(61)) == ordered


def test_halves_are_what_was_allocated() -> None:
    data = about(COOLMUC3, 32)
    assert data["bisection_halves"] == ["0-15", "16-31"]
    assert data["allocation"] == {"nodes": 32, "list": "0-31"}


def test_a_wide_level_undoes_no_taper_below_it() -> None:
    # 4 nodes of a leaf share 2 links up, whatever its spine has: 4:8 = 0.5 above.
    data = about("fat-tree:nodes=16,leaf-ports=4:2,spines=1,spine-ports=4:8,cores=1,core-ports=16")
    assert data["tapers"] == [2.0, 0.5]
    assert data["taper"] == 2.0


def test_tapers_of_two_levels_multiply() -> None:
    # 8 nodes of a leaf by 4 links, two leaves' 8 links by 2: all 16 nodes of a pod share 2.
    words = "fat-tree:nodes=32,leaf-ports=8:4,spines=1,spine-ports=8:2,cores=1,core-ports=4,link=10Gbit/s"
    assert (about(words)["tapers"], about(words)["taper"]) == ([2.0, 4.0], 8.0)
    data = about(f"{words},uplink=20Gbit/s")
    assert (data["tapers"], data["taper"]) == ([1.0, 4.0], 4.0)
