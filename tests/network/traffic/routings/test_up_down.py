"""Up/down routing with an ideal spread, on trees of switches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Demand, Links, Load
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.routings.up_down import up_down

Made = Callable[..., Network]
FAT_TREE_148 = "fat-tree:nodes=148,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48"


def everybody(nodes: int) -> Demand:
    source, target = np.divmod(np.arange(nodes**2), nodes)
    return Demand.of(source, target)


def test_alltoall_on_a_fat_tree_of_148_nodes() -> None:
    links = Links.of(parse_spec(FAT_TREE_148))
    load = Load(links, up_down(links, everybody(148)))
    level = links.network.level
    by_kind = {
        kind: load.carried_B[(level[links.tail] == kind[0]) & (level[links.head] == kind[1])]
        for kind in ((0, 1), (1, 0), (1, 2), (2, 1))
    }
    # A node sends 147 messages on two cables; a full leaf switch those of 16 nodes to 132 others on 16 links up.
    assert by_kind[0, 1] == pytest.approx(np.full(2 * 148, 147 / 2))
    assert by_kind[1, 0] == pytest.approx(np.full(2 * 148, 147 / 2))
    full = 16 * 132 / 16
    # The last leaf has four nodes, and so less.
    last = 4 * 144 / 16
    for direction in ((1, 2), (2, 1)):
        assert sorted(by_kind[direction]) == pytest.approx([last] * 16 + [full] * 144)
    assert load.worst_B == pytest.approx(full)


def test_no_higher_than_the_nearest_common_ancestor() -> None:
    # Two pods of two leaves: within a leaf no spine is used, within a pod no core.
    links = Links.of(
        parse_spec("fat-tree:nodes=8,leaf-ports=2:2,spines=2,spine-ports=2:2,pod-leaves=2,cores=2,core-ports=4")
    )
    level = links.network.level
    for target, top in ((1, 1), (2, 2), (4, 3)):
        carried = up_down(links, Demand.of([0], [target]))
        assert level[links.head[carried > 0]].max() == top
        assert carried.sum() == pytest.approx(2 * top)


def test_a_way_that_goes_down_and_up_is_not_taken(graph: Made, brute_force: Any) -> None:
    # Leaf 4 is below both spines, 3 below one and 5 below the other: from 0 to 2 the shortest way leads over
    # leaf 4, where up/down has to turn at the core 8.
    made = graph(
        [(0, 3, 1), (1, 4, 1), (2, 5, 1), (3, 6, 1), (4, 6, 1), (4, 7, 1), (5, 7, 1), (6, 8, 1), (7, 8, 1)],
        3,
        6,
        [0, 0, 0, 1, 1, 1, 2, 2, 3],
    )
    links, demand = Links.of(made), Demand.of([0], [2])
    used = {links.name(int(i)) for i in np.flatnonzero(up_down(links, demand))}
    assert "vertex 6 → vertex 8" in used
    assert "vertex 6 → vertex 4" not in used
    assert any(links.head[i] == 4 for i in np.flatnonzero(brute_force(links, demand)))


@pytest.mark.parametrize("name", ["up_down", "d_mod_k"])
@pytest.mark.parametrize(
    "spec", ["torus:4x4", "hypercube:3", "dragonfly:routers=2,nodes-per-router=1,global-links=1"]
)
def test_where_there_is_no_tree(spec: str, name: str) -> None:
    with pytest.raises(RequestError, match="needs a tree of levels"):
        routings.get(name).carry(Links.of(parse_spec(spec)), Demand.of([0], [1]))


def test_where_no_way_goes_up_and_down(graph: Made) -> None:
    # Leaves 2 and 3 meet in node 4 alone, which is below them.
    links = Links.of(graph([(0, 3, 1), (1, 4, 1), (2, 3, 1), (2, 4, 1)], 3, 2, [0, 0, 0, 1, 1]))
    with pytest.raises(RequestError, match="no way from vertex 0 to vertex 1"):
        up_down(links, Demand.of([0], [1]))
