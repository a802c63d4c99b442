"""Dimension-order routing on a torus."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.errors import RequestError
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Demand, Links
from hockney.network.traffic.routings.dimension_order import dimension_order
from hockney.network.traffic.walk import hops


@pytest.mark.parametrize(
    ("topology", "target", "on_each", "passed"),
    [
        # (0, 0) to (1, 3), the second coordinate backward over the edge.
        ("torus:4x5", 8, 6.0, ["0 → 5", "5 → 9", "9 → 8"]),
        # Half each way where both are as long.
        ("torus:4", 2, 3.0, ["0 → 1", "1 → 2", "0 → 3", "3 → 2"]),
    ],
)
def test_the_first_coordinate_first(topology: str, target: int, on_each: float, passed: list[str]) -> None:
    links = Links.of(parse_spec(topology))
    carried = dimension_order(links, Demand.of([0], [target], 6.0))
    names = {f"node {link.replace('→ ', '→ node ')}" for link in passed}
    assert {links.name(int(i)): carried[i] for i in np.flatnonzero(carried)} == dict.fromkeys(names, on_each)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_alltoall_is_even(k: int) -> None:
    links = Links.of(parse_spec(f"torus:{k}x{k}x{k}"))
    source, target = np.divmod(np.arange(k**6), k**3)
    exact = {2: 4, 3: 9, 4: 32, 5: 75}[
        k
    ]  # k⁴/8 and k²(k²−1)/8; twice that at k = 2, where one link takes both ways
    assert dimension_order(links, Demand.of(source, target)) == pytest.approx(np.full(len(links.tail), exact))


@settings(max_examples=30)
@given(data=st.data())
def test_nothing_is_lost_on_the_way(data: st.DataObject) -> None:
    links = Links.of(parse_spec(data.draw(st.sampled_from(["torus:4x3", "torus:2x2x3", "torus:5x1x2"]))))
    nodes = links.network.nodes
    ends = st.integers(0, nodes - 1)
    sends = data.draw(st.lists(st.tuples(ends, ends, st.integers(1, 1000)), min_size=1, max_size=12))
    demand = Demand.of(*np.array(sends).T)
    carried = dimension_order(links, demand)
    left = np.bincount(links.tail, carried, nodes) - np.bincount(links.head, carried, nodes)
    sent = np.bincount(demand.source, demand.size_B, nodes) - np.bincount(demand.target, demand.size_B, nodes)
    # Halves of whole numbers are exact.
    assert np.array_equal(left, sent)
    assert carried.sum() == demand.size_B @ hops(links, np.arange(nodes))[demand.source, demand.target]


def test_where_there_are_no_dimensions() -> None:
    with pytest.raises(RequestError, match="and this is a single switch"):
        dimension_order(Links.of(parse_spec("single-switch:4")), Demand.of([0], [1]))
