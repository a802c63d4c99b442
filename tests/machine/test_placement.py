"""Placements against the facts that the data's authors state, and against plain loops over the levels."""

from __future__ import annotations

from itertools import islice, pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.errors import RequestError
from hockney.machine.placement import Placement, placement, placement_of_pair
from hockney.machine.system import LEVELS, System, find_system, known_systems

ORFEO = find_system("orfeo-epyc")


def small(order: list[str], **rule: Any) -> System:
    """Nodes of 2 packages × 1 NUMA domain × 2 caches × 3 cores: 12 cores, every count its own."""
    return System.model_validate(
        {
            "schema_version": 1,
            "name": "small",
            "node": {"packages": 2, "caches_per_numa": 2, "cores_per_cache": 3},
            "network": {"topology": "switch"},
            "mappings": {"m": {"order": order, **rule}},
        }
    )


def loops(order: tuple[str, ...], nodes: int, ppn: int, ranks: int) -> list[int]:
    """The cores of `small` by nested loops, each node skipped once it has `ppn` ranks: what a launcher does."""
    counts = {"core": 3, "cache": 2, "numa": 1, "package": 2, "node": nodes}
    on_node = dict.fromkeys(range(nodes), 0)
    cores = []
    for numbers in product(*(range(counts[level]) for level in reversed(order))):
        at = dict(zip(reversed(order), numbers, strict=True))
        if on_node[at["node"]] < ppn:
            on_node[at["node"]] += 1
            cores.append((((at["node"] * 2 + at["package"]) * 1 + at["numa"]) * 2 + at["cache"]) * 3 + at["core"])
    return list(islice(cores, ranks))


@pytest.mark.parametrize(
    ("mapping", "ranks", "rank", "locality"),
    [
        # Four cores share an L3, 16 a NUMA domain, 64 a package, 128 a node.
        ("core", 256, 3, "cache"),
        ("core", 256, 4, "numa"),
        ("core", 256, 15, "numa"),
        ("core", 256, 16, "package"),
        ("core", 256, 63, "package"),
        ("core", 256, 64, "node"),
        ("core", 256, 127, "node"),
        ("core", 256, 128, "network"),
        # Round robin over two packages: even ranks beside rank 0, odd ones on the other package.
        ("socket", 256, 1, "node"),
        ("socket", 256, 2, "cache"),
        ("socket", 256, 6, "cache"),
        ("socket", 256, 8, "numa"),
        ("socket", 256, 127, "node"),
        ("socket", 256, 128, "network"),
        # Even ranks on node 0, odd ones on node 1; inside, the next NUMA domain, those of package 0 first.
        ("node", 256, 1, "network"),
        ("node", 256, 2, "package"),
        ("node", 256, 6, "package"),
        ("node", 256, 8, "node"),
        ("node", 256, 16, "cache"),
        ("node", 256, 255, "network"),
        # Flat trees: every receiver in the channel of its name.
        ("flat_tree_cache", 4, 1, "cache"),
        ("flat_tree_cache", 4, 3, "cache"),
        ("flat_tree_core", 61, 1, "numa"),
        ("flat_tree_core", 61, 60, "package"),
        ("flat_tree_socket", 65, 1, "node"),
        ("flat_tree_socket", 65, 64, "node"),
        ("flat_tree_node", 257, 1, "network"),
        ("flat_tree_node", 257, 256, "network"),
    ],
)
def test_orfeo_locality_of_rank_0(mapping: str, ranks: int, rank: int, locality: str) -> None:
    placed = placement(ORFEO, mapping, ranks)
    assert placed.locality(0, rank) == locality
    assert placed.locality(rank, 0) == locality


@pytest.mark.parametrize(
    ("mapping", "ranks", "nodes", "ppn"),
    [
        ("core", 128, 1, 128),
        ("core", 129, 2, 128),
        ("socket", 126, 1, 126),
        ("socket", 130, 2, 128),
        ("node", 2, 2, 1),
        ("node", 254, 2, 127),
        ("flat_tree_cache", 4, 1, 4),
        ("flat_tree_node", 129, 2, 128),
        ("flat_tree_node", 130, 3, 128),
    ],
)
def test_orfeo_nodes_and_ppn_are_those_of_the_table(mapping: str, ranks: int, nodes: int, ppn: int) -> None:
    """Rows of the data's own table; told or found out, the numbers are the same."""
    for placed in (placement(ORFEO, mapping, ranks), placement(ORFEO, mapping, ranks, nodes, ppn)):
        assert (placed.ranks, placed.nodes, placed.ppn) == (ranks, nodes, ppn)


@pytest.mark.parametrize(
    ("channel", "receiver", "locality"),
    [("cache", 3, "cache"), ("core", 4, "numa"), ("core", 63, "package"), ("socket", 64, "node")],
)
def test_orfeo_ping_pong_partner(channel: str, receiver: int, locality: str) -> None:
    placed = placement_of_pair(ORFEO, channel, receiver)
    assert list(placed.core) == [0, receiver]
    assert placed.locality(0, 1) == locality


@pytest.mark.parametrize("receiver", [0, 127])
def test_orfeo_ping_pong_partner_on_another_node(receiver: int) -> None:
    placed = placement_of_pair(ORFEO, "node", receiver)
    assert placed.locality(0, 1) == "network"
    assert placed.core[1] == 128 + receiver


def test_a_placement_says_how_far_a_rank_may_move() -> None:
    assert placement(ORFEO, "core", 4).binding == "core"
    assert placement(ORFEO, "socket", 4).binding == "package"


@pytest.mark.parametrize(
    ("ranks", "shape"),
    [(8, (2, 2, 2)), (64, (4, 4, 4)), (512, (8, 8, 8)), (4096, (64, 64)), (8192, (32, 256))],
)
def test_fugaku_is_one_rank_a_node_on_the_jobs_torus(ranks: int, shape: tuple[int, ...]) -> None:
    placed = placement(find_system("fugaku"), "", ranks)
    assert (placed.nodes, placed.ppn) == (ranks, 1)
    assert placed.network_coordinates is not None
    assert placed.network_coordinates.dtype == np.int32
    expected = list(product(*map(range, shape)))
    assert [tuple(int(c) for c in at) for at in placed.network_coordinates] == expected


def test_a_number_of_nodes_without_a_shape_has_no_coordinates() -> None:
    assert placement(find_system("fugaku"), "node", 1000).network_coordinates is None
    assert placement(ORFEO, "core", 8).network_coordinates is None


@pytest.mark.parametrize(("ppn", "nodes"), [(1, 64), (4, 64), (64, 64)])
def test_marenostrum_jobs(ppn: int, nodes: int) -> None:
    placed = placement(find_system("marenostrum5"), "", nodes * ppn, nodes, ppn)
    assert (placed.nodes, placed.ppn) == (nodes, ppn)
    assert list(placed.node) == [rank // ppn for rank in range(nodes * ppn)]


@pytest.mark.parametrize("ranks", [2, 8, 16, 64])
def test_alaska_has_the_first_half_of_the_ranks_on_the_first_node(ranks: int) -> None:
    placed = placement(find_system("alaska-ib"), "", ranks)
    assert list(placed.node) == [0] * (ranks // 2) + [1] * (ranks // 2)


@given(
    order=st.sampled_from(list(permutations(LEVELS))),
    nodes=st.integers(1, 5),
    ppn=st.integers(1, 12),
    share=st.floats(0, 1),
)
@settings(max_examples=150)
def test_any_order_is_a_nest_of_loops(order: tuple[str, ...], nodes: int, ppn: int, share: float) -> None:
    ranks = max(1, round(share * nodes * ppn))
    cores = loops(order, nodes, ppn, ranks)
    used = len({core // 12 for core in cores})
    system = small(list(order))
    if used < min(nodes, ranks):
        with pytest.raises(RequestError, match=r"nodes?, not"):
            placement(system, "m", ranks, nodes, ppn)
        return
    placed = placement(system, "m", ranks, nodes, ppn)
    assert list(placed.core) == cores
    assert nests(placed)


def nests(placed: Placement) -> bool:
    """Who shares a level shares all levels around it, and no two ranks a core."""
    ids = [placed.core, *placed.domains()]
    inside = [np.unique(np.stack(pair), axis=1) for pair in pairwise(ids)]
    return len(set(placed.core)) == placed.ranks and all(len(set(pairs[0])) == pairs.shape[1] for pairs in inside)


@pytest.mark.parametrize("name", known_systems())
def test_every_shipped_mapping_places_ranks_on_cores_of_their_own(name: str) -> None:
    system = find_system(name)
    for mapping, rule in system.mappings.items():
        most = 4 if rule.to_core == 3 else 64 if rule.to_core is None else 61
        most = min(most, (rule.nodes or most) * system.node.cores)
        if system.node.threads_per_core > 1:  # further ranks are second threads of these cores
            most = min(most, system.node.cores_per_cache)
        for ranks in (1, 2, 3, most):
            placed = placement(system, mapping, ranks)
            assert nests(placed)
            assert placed.levels == ("cache", "numa", "package", "node")
            assert all(ids.dtype == np.int32 and ids.shape == (ranks,) for ids in placed.domains())


OUTWARD: list[str] = [*LEVELS]
OVER_NODES = ["node", "core", "cache", "numa", "package"]


@pytest.mark.parametrize(
    ("system", "numbers", "nodes"),
    [
        # Even ranks need not divide.
        (small(OUTWARD, nodes=3, ppn="even"), {"ranks": 7}, [0, 0, 0, 1, 1, 1, 2]),
        (small(OUTWARD, nodes=3, ppn="even"), {"ranks": 8, "nodes": 2}, [0] * 4 + [1] * 4),
        # Ranks per node alone give the nodes, and overrule the mapping's own number of them.
        (small(OVER_NODES), {"ranks": 6, "ppn": 2}, [0, 1, 2, 0, 1, 2]),
        (small(OVER_NODES, nodes=2), {"ranks": 5, "ppn": 1}, [0, 1, 2, 3, 4]),
        # Spreading takes all nodes of the system.
        (small(OVER_NODES).model_copy(update={"nodes": 3}), {"ranks": 7}, [0, 1, 2, 0, 1, 2, 0]),
    ],
)
def test_nodes_of_ranks(system: System, numbers: dict[str, int], nodes: list[int]) -> None:
    assert list(placement(system, "m", **numbers).node) == nodes


@pytest.mark.parametrize(
    ("system", "cores"),
    [
        # A core that is named is not used again.
        (small(OUTWARD, first_cores=[2]), [2, 0, 1, 3, 4]),
        # A mapping that names its cores follows its order among them.
        (
            small(["package", "core", "cache", "numa", "node"], first_cores=[5, 0], from_core=1, to_core=11),
            [5, 0, 6, 1, 7, 2, 8],
        ),
    ],
)
def test_cores_of_mappings_that_name_some(system: System, cores: list[int]) -> None:
    assert list(placement(system, "m", len(cores)).core) == cores


def test_ten_million_ranks() -> None:
    placed = placement(find_system("fugaku"), "node", 10_000_000)
    assert placed.node[-1] == 9_999_999


@pytest.mark.parametrize(
    ("mapping", "numbers", "says"),
    [
        ("sockets", {"ranks": 4}, "has no mapping 'sockets'"),
        ("", {"ranks": 4}, "no mapping is given"),
        ("core", {"ranks": 0}, "ranks must be at least 1"),
        ("core", {"ranks": -3}, "ranks must be at least 1"),
        ("core", {"ranks": 2**31}, "ranks must be at least 1 and below"),
        ("core", {"ranks": 4, "nodes": 0}, "nodes must be at least 1"),
        ("core", {"ranks": 9, "nodes": 2, "ppn": 4}, "2 nodes with 4 ranks each hold 8 ranks, not 9"),
        ("core", {"ranks": 129, "nodes": 1}, "1 nodes with 128 ranks each hold 128 ranks, not 129"),
        ("core", {"ranks": 4, "ppn": 129}, "which has 128 cores"),
        ("core", {"ranks": 64, "nodes": 2}, "puts 64 ranks on 1 node, not 2"),
        ("node", {"ranks": 257}, "2 nodes with 128 ranks each hold 256 ranks"),
        ("flat_tree_cache", {"ranks": 5}, "has 4 cores, not 5"),
        ("flat_tree_node", {"ranks": 20, "nodes": 1}, "on 2 nodes, not 1"),
        ("flat_tree_node", {"ranks": 20, "ppn": 2}, "19 ranks on one node, not 2"),
    ],
)
def test_a_wrong_request_is_refused(mapping: str, numbers: dict[str, int], says: str) -> None:
    with pytest.raises(RequestError) as caught:
        placement(ORFEO, mapping, **numbers)
    assert says in caught.value.message
    assert caught.value.hint


def test_more_ranks_than_the_system_has() -> None:
    assert placement(find_system("alaska-ib"), "fill", 64).nodes == 2
    with pytest.raises(RequestError, match="alaska-ib has 2 of 32 cores with 2 hardware threads"):
        placement(find_system("alaska-ib"), "fill", 65)


def test_spreading_over_an_unknown_number_of_nodes_is_refused() -> None:
    with pytest.raises(RequestError, match="how many there are is not known"):
        placement(small(OVER_NODES), "m", 4)


@pytest.mark.parametrize(("channel", "receiver"), [("corse", 4), ("core", 128), ("core", -1)])
def test_a_wrong_channel_or_core_is_refused(channel: str, receiver: int) -> None:
    with pytest.raises(RequestError):
        placement_of_pair(ORFEO, channel, receiver)


def test_more_cores_than_can_be_numbered() -> None:
    with pytest.raises(RequestError, match="more cores than can be numbered"):
        placement(small(list(LEVELS), first_cores=[0], from_core=2**31), "m", 2)


@pytest.mark.parametrize(("name", "from_24"), [("orfeo-thin", "network"), ("orfeo-gpu", "node")])
def test_nodes_of_the_exercises(name: str, from_24: str) -> None:
    """Breaks of their rings lie behind 12 and 24 ranks: a socket with one L3 is full, then the node."""
    system = find_system(name)
    by_core = placement(system, "", 48)
    assert [by_core.locality(rank, rank + 1) for rank in (0, 10, 11, 12, 23)] == [
        *("cache", "cache", "node", "cache", from_24)
    ]
    assert placement(system, "socket", 2).locality(0, 1) == "node"
    assert placement(system, "node", 2).locality(0, 1) == "network"
    assert system.network.bandwidth_B_per_s == 100e9 / 8


def test_ranks_beyond_the_cores_of_a_node_are_second_on_them() -> None:
    """Document 000: up to 24 ranks have a core of a GPU node each, 25 to 48 share them by hardware threads."""
    gpu = find_system("orfeo-gpu")
    for ranks, second in ((24, 0), (25, 1), (48, 24)):
        placed = placement(gpu, "socket", ranks)
        assert (placed.nodes, placed.turns.tolist()) == (1, [0] * (ranks - second) + [1] * second)
    assert placement(gpu, "socket", 49).nodes == 2
    with pytest.raises(RequestError, match="2 hardware threads each"):
        placement(gpu, "socket", 49, nodes=1, ppn=49)
    thin = find_system("orfeo-thin")
    with pytest.raises(RequestError):
        placement(thin, "socket", 25, nodes=1)
