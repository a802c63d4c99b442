"""Of every routing: what is sent arrives, over as few links as lie between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.traffic.routings.test_d_mod_k import THREE_LEVELS, TWO_LEVELS
from tests.network.traffic.routings.test_shortest import TREE

from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Demand, Links
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.walk import hops

FLY = "dragonfly:routers=2,nodes-per-router=1,global-links=1"
TOPOLOGIES = {
    "dimension_order": ["torus:4x3", "torus:2x2x3", "torus:5x1x2"],
    "d_mod_k": [TWO_LEVELS, THREE_LEVELS, "single-switch:16"],
    "shortest": ["torus:4x3", "torus:2x2x3", "hypercube:3", "single-switch:5", TREE, FLY],
    "up_down": [TREE, TWO_LEVELS, THREE_LEVELS, "single-switch:5"],
}


@pytest.mark.parametrize("routing", routings.names())
@settings(max_examples=30)
@given(data=st.data())
def test_nothing_is_lost_on_the_way(routing: str, data: st.DataObject) -> None:
    links = Links.of(parse_spec(data.draw(st.sampled_from(TOPOLOGIES[routing]))))
    ends = st.integers(0, links.network.nodes - 1)
    sends = data.draw(st.lists(st.tuples(ends, ends, st.integers(1, 1000)), min_size=1, max_size=12))
    demand = Demand.of(*np.array(sends).T)
    carried = routings.get(routing).carry(links, demand)
    count = links.network.vertices
    left = np.bincount(links.tail, carried, count) - np.bincount(links.head, carried, count)
    sent = np.bincount(demand.source, demand.size_B, count) - np.bincount(demand.target, demand.size_B, count)
    assert left == pytest.approx(sent, abs=1e-9 * 12000)
    apart = hops(links, np.arange(links.network.nodes))[demand.source, demand.target]
    assert carried.sum() == pytest.approx(float(demand.size_B @ apart))
    if routing == "d_mod_k":
        # Messages of whole bytes are not split.
        assert np.array_equal(carried, carried.round())
