"""Placements compared, and maps of the user's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.mapping import check_ranks, compare, read_map
from hockney.network.traffic.patterns.base import Volumes, parse_pattern
from hockney.network.traffic.placements import Situation, placements


def situation(pattern: str, topology: str, ppn: int = 1, nodes: list[int] | None = None) -> Situation:
    network = parse_spec(topology)
    among = Allocated(Links.of(network), np.arange(network.nodes) if nodes is None else np.array(nodes))
    return Situation(parse_pattern(pattern, Volumes()), among, ppn, "shortest", 0)


def test_sorted_by_the_most_loaded_link_then_by_hop_bytes() -> None:
    found = compare(situation("jacobi:4x8", "torus:8x4"), samples=3, own={})
    ranked = [(one.worst, one.hop_bytes) for one in found.mapped]
    assert ranked == sorted(ranked)
    assert {one.name for one in found.mapped} | set(found.without) == set(placements.names())
    assert set(found.without) == {"blocked", "cyclic"}
    assert found.best.name == "folded"
    told = found.as_data()
    assert (told["best"]["placement"], told["best"]["default"]) == ("folded", "linear")
    assert told["placements"][0]["average_hops"] == told["placements"][0]["most_hops"] == 1
    linear = next(one for one in told["placements"] if one["placement"] == "linear")
    assert told["best"]["factor_of_hop_bytes"] == pytest.approx(
        linear["hop_bytes"] / told["placements"][0]["hop_bytes"]
    )
    assert told["best"]["factor_of_most_loaded_link"] == pytest.approx(linear["most_loaded_link"]["congestion"])


def test_the_default_is_best_where_nothing_is_better() -> None:
    found = compare(situation("jacobi:8x8x4", "torus:8x8x4"), samples=1, own={})
    assert found.best.name == "linear"
    assert found.factor("worst") == found.factor("hop_bytes") == 1.0
    # Every face crosses one link of its own: 2·(7·8·4·2 + 8·8·3) of them.
    assert found.best.hop_bytes == 2 * (2 * 7 * 32 + 64 * 3)
    assert found.best.worst == 1.0


def test_the_median_of_random_maps() -> None:
    of = situation("ring:32", "torus:4x8")
    every = sorted(
        of.load(placements.get("random").place(Situation(of.pattern, of.among, 1, "shortest", seed))).worst_B
        for seed in range(5)
    )
    shares: list[float] = []
    compared = compare(of, samples=5, own={}, progress=lambda share, _: shares.append(share))
    assert shares[0] == 0 < shares[-1] < 1
    assert shares == sorted(shares)
    assert len(shares) == 5 + len(compared.mapped) - 1
    found = next(one for one in compared.mapped if one.name == "random")
    assert found.worst == pytest.approx(every[2])
    assert every[0] < every[-1]


def test_what_stays_on_a_node_crosses_nothing() -> None:
    found = compare(situation("ring:4", "single-switch:1", ppn=4), samples=1, own={})
    told = found.as_data()["placements"][0]
    assert (told["hop_bytes"], told["within_nodes"], told["most_loaded_link"]) == (0, 8, None)
    assert found.factor("worst") == 1.0


def test_a_map_of_ones_own(tmp_path: Path) -> None:
    of = situation("ring:4", "torus:8", nodes=[1, 3, 5, 7])
    path = tmp_path / "map.txt"
    path.write_text("0 7\n1 1 # around the edge\n2 3\n3 5\n", encoding="utf-8")
    place = read_map(path, of)
    assert place.tolist() == [3, 0, 1, 2]
    found = compare(of, samples=1, own={"mine": place})
    mine = next(one for one in found.mapped if one.name == "mine")
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
    path = tmp_path / "map.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RequestError) as error:
        read_map(path, situation("ring:4", "torus:4"))
    assert said in error.value.message


@pytest.mark.parametrize(
    ("of", "message", "hint"),
    [
        (situation("jacobi:8x8x4", "torus:4x4x4"), "256 ranks, and 64 nodes × 1", "--ppn 4 fits"),
        (situation("ring:8", "torus:4x4"), "8 ranks, and 16 nodes × 1", "--allocation 8"),
        (situation("ring:7", "torus:4", ppn=2), "7 ranks, and 4 nodes × 2", "change the pattern"),
    ],
)
def test_ranks_must_fill_the_nodes(of: Situation, message: str, hint: str) -> None:
    with pytest.raises(RequestError) as error:
        check_ranks(of)
    assert message in error.value.message
    assert hint in error.value.hint
