"""D-mod-K: what is proved of it (Zahavi 2010), and ports worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Demand, Links, Load
from hockney.network.traffic.routings.d_mod_k import d_mod_k

# As many links up as nodes below every switch: two spines with two cables to each leaf, and three levels.
TWO_LEVELS = "fat-tree:nodes=16,leaf-ports=4:4,spines=2,spine-ports=8"
THREE_LEVELS = "fat-tree:nodes=16,leaf-ports=2:2,spines=2,spine-ports=2:2,pod-leaves=2,cores=4,core-ports=4"


@pytest.mark.parametrize("spec", [TWO_LEVELS, THREE_LEVELS])
def test_shifts_have_no_congestion_on_full_trees(spec: str) -> None:
    # Zahavi 2010: with D-mod-K every shift of all nodes is routed without two messages on one link.
    links = Links.of(parse_spec(spec))
    nodes = np.arange(16)
    for shift in range(1, 16):
        assert Load(links, d_mod_k(links, Demand.of(nodes, (nodes + shift) % 16))).worst_B == pytest.approx(1.0)


def test_ports_by_hand() -> None:
    links = Links.of(parse_spec(TWO_LEVELS))
    # To node 6 from leaf 0: port 6 mod 4 = 2 of four: cable 1 to spine 0; and down from there on cable 1 too.
    carried = d_mod_k(links, Demand.of([0], [6], 10.0))
    used = [links.name(int(i)) for i in np.flatnonzero(carried)]
    assert sorted(used) == sorted(
        ["node 0 → leaf 0", "leaf 0 → spine 0 (cable 1)", "spine 0 → leaf 1 (cable 1)", "leaf 1 → node 6"]
    )
    assert set(carried[carried > 0]) == {10.0}


def test_all_to_one_share_one_tree_where_an_ideal_spread_does_not() -> None:
    links = Links.of(parse_spec(TWO_LEVELS))
    demand = Demand.of([0, 1, 2, 3], [6, 6, 6, 6])
    carried = d_mod_k(links, demand)
    up = [carried[i] for i in range(len(carried)) if links.name(i).startswith("leaf 0 → spine")]
    assert sorted(up) == [0.0, 0.0, 0.0, 4.0]
