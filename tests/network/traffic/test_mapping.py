"""Maps compared with each other and with their bound, and maps of the user's own."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.factories import not_none, refusing, written

from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.mapping import BestPlacement, Situation, compare, read_map
from hockney.network.traffic.patterns import parse_pattern


def situation(pattern: str, topology: str, ppn: int = 1, nodes: list[int] | None = None) -> Situation:
    network = parse_spec(topology)
    among = Allocated(Links.of(network), np.arange(network.nodes) if nodes is None else np.array(nodes))
    return Situation(parse_pattern(pattern), among, ppn, "shortest")


def test_sorted_by_the_most_loaded_link_then_by_hop_bytes() -> None:
    transposed = np.arange(32).reshape(8, 4).T.ravel()
    found = compare(situation("jacobi:4x8", "torus:8x4"), {"transposed": transposed})
    assert [row.placement for row in found.placements] == ["transposed", "linear"]
    best, linear = found.placements
    assert best.average_hops == best.most_hops == 1
    assert found.best.factor_of_hop_bytes == pytest.approx(linear.hop_bytes / best.hop_bytes)
    assert found.best.factor_of_most_loaded_link == pytest.approx(not_none(linear.most_loaded_link).congestion)


def test_the_default_is_best_where_nothing_is_better() -> None:
    found = compare(situation("jacobi:8x8x4", "torus:8x8x4"), {})
    assert found.best == BestPlacement("linear", "linear", 1.0, 1.0)
    # Every face crosses one link of its own: 2·(7·8·4·2 + 8·8·3) of them, and no map has fewer.
    assert found.placements[0].hop_bytes == found.bound.hop_bytes == 2 * (2 * 7 * 32 + 64 * 3)
    assert found.placements[0].worst == 1.0


@pytest.mark.parametrize(
    ("pattern", "topology", "ppn"),
    [
        ("ring:6", "torus:6", 1),
        ("jacobi:3x2", "torus:3", 2),
        ("jacobi:2x3", "torus:6", 1),
        ("ring:6", "torus:3x2", 1),
    ],
)
def test_no_map_of_all_is_below_the_bound(pattern: str, topology: str, ppn: int) -> None:
    of = situation(pattern, topology, ppn)
    every = [of.placed("", np.array(order) // ppn) for order in itertools.permutations(range(6))]
    bound = of.bound()
    assert 0 < bound.hop_bytes <= min(row.hop_bytes for row in every)
    assert 0 < bound.most_loaded_link <= min(row.worst for row in every)


def test_what_stays_on_a_node_crosses_nothing() -> None:
    found = compare(situation("ring:4", "single-switch:1", ppn=4), {})
    row = found.placements[0]
    assert (row.hop_bytes, row.within_nodes, row.most_loaded_link) == (0, 8, None)
    assert (found.best.factor_of_most_loaded_link, found.bound.hop_bytes) == (1.0, 0)


def test_a_map_of_ones_own(tmp_path: Path) -> None:
    of = situation("ring:4", "torus:8", nodes=[1, 3, 5, 7])
    path = written(tmp_path / "map.txt", "0 7\n1 1 # around the edge\n2 3\n3 5\n")
    place = read_map(path, of)
    assert place.tolist() == [3, 0, 1, 2]
    mine = next(row for row in compare(of, {"mine": place}).placements if row.placement == "mine")
    # Each of eight messages goes to the next allocated node, two hops away.
    assert mine.hop_bytes == 16


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1\n1 0\n2 2", "rank 3 has no node"),
        ("0 1\n1 0\n2 2\n3 9", "line 4: node 9 is not allocated"),
        ("0 1\n1 0\n2 2\n4 3", "no rank 4"),
        ("0 1\n0 2\n", "line 2: rank 0 has a node already"),
        ("0 1\n1 1\n2 2\n3 3", "2 ranks on node 1, and --ppn is 1"),
        ("0 -1", "'-1' is no number"),
        ("0", "1 columns, not 2"),
    ],
)
def test_what_is_wrong_in_a_map_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path / "map.txt", text)
    with refusing(re.escape(said)):
        read_map(path, situation("ring:4", "torus:4"))


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("jacobi:8x8x4", "torus:4x4x4"), "256 ranks, and 64 nodes × 1", "--ppn 4 fits"),
        (("ring:8", "torus:4x4"), "8 ranks, and 16 nodes × 1", "--allocation 0-7"),
        (("ring:7", "torus:4", 2), "7 ranks, and 4 nodes × 2", "change the pattern"),
    ],
)
def test_ranks_must_fill_the_nodes(words: tuple[Any, ...], message: str, hint: str) -> None:
    with refusing(re.escape(message), hint):
        situation(*words)
