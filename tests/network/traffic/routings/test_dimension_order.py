"""Dimension-order routing on a torus."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Demand, Links
from hockney.network.traffic.routings.dimension_order import dimension_order


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


def test_where_there_are_no_dimensions() -> None:
    with pytest.raises(RequestError, match="and this is a single switch"):
        dimension_order(Links.of(parse_spec("single-switch:4")), Demand.of([0], [1]))
