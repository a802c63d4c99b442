"""Collectives on a network's links: never below what its bisection allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome
from tests.factories import version_1

from hockney.machine.file import save

LINK_B_PER_S = 374.5e6
"""Of Blue Gene/P's torus."""


def told(*words: str) -> Any:
    code, out, err = outcome("predict", *words, "--machine", "bluegene_p", "--json")
    assert code == 0, out + err
    return json.loads(out)


def answer(*words: str) -> dict[str, Any]:
    (prediction,) = told(*words)["predictions"]
    return {row["algorithm"]: row for row in prediction["algorithms"]} | {"warnings": prediction["warnings"]}


def test_an_alltoall_is_no_quicker_than_its_torus() -> None:
    """C = k⁴/8 messages on each link of a torus k × k × k with even k (Hoefler et al. 2010)."""
    size_B = 240 * 1024
    rows = answer("alltoall", "--ranks", "4096", "--bytes", "240KiB", "--topology", "torus:16x16x16")
    bound_s = 16**4 / 8 * size_B / LINK_B_PER_S
    least = [row["low_s"] for name, row in rows.items() if name != "warnings" and row["low_s"]]
    assert min(least) == pytest.approx(bound_s, rel=1e-9)
    # A bound is no time: nothing is counted, and it ends nowhere.
    linear = rows["linear"]
    assert (linear["method"], linear["time_s"], linear["high_s"]) == ("unshared", None, None)
    assert (linear["messages"], linear["formula"]) == (None, "")
    assert any("374" in text and "torus:16x16x16" in text for text in rows["warnings"])


def test_what_is_below_a_published_bound_is_named() -> None:
    rows = answer("alltoall", "--ranks", "4096", "--bytes", "240KiB", "--algorithm", "linear,library")
    assert any(text.startswith("linear: predicted below") for text in rows["warnings"])


def test_half_the_links_take_twice_as_long() -> None:
    """128 links between the halves of 8 × 8 × 8, 64 of 16 × 8 × 4."""
    times = [
        answer("alltoall", "--ranks", "512", "--bytes", "64KiB", "--algorithm", "linear", "--topology", topology)
        for topology in ("torus:8x8x8", "torus:16x8x4")
    ]
    cube, slab = (each["linear"]["low_s"] for each in times)
    bound_s = 8**4 / 8 * 65536 / LINK_B_PER_S
    # As many bytes leave a node by itself, so that the cube's links hardly count.
    assert bound_s <= cube < 1.1 * bound_s
    assert slab == pytest.approx(2 * bound_s)


def test_few_messages_share_each_link() -> None:
    """Simulated one by one, an alltoall on a ring of 64 takes what C = P·⌊64²/4⌋/(2·64) says, not twice that."""
    rows = answer(
        "alltoall", "--ranks", "64", "--bytes", "64KiB", "--algorithm", "linear", "--topology", "torus:64"
    )
    bound_s = 512 * 65536 / LINK_B_PER_S
    assert rows["linear"]["method"] == "simulated"
    assert bound_s <= rows["linear"]["time_s"] < 2 * bound_s


@pytest.mark.parametrize(("link", "times"), [("", 1), (",link=30Gbit/s", 2)])
def test_a_node_sends_over_its_links_at_once(link: str, times: float) -> None:
    """To either neighbour; where a link is many times as fast as messages, the node itself limits them."""
    words = ("bcast", "--bytes", "1MiB", "--algorithm", "linear", "--topology", f"torus:3{link}", "--ranks")
    to_first, to_both = (answer(*words, ranks)["linear"]["time_s"] for ranks in ("2", "3"))
    assert to_both == pytest.approx(times * to_first, rel=0.02)


def test_other_networks_bound() -> None:
    """16 nodes below two leaves with two links up each: 8 · 8 blocks of 1 MB over 2 links of 0.1 GB/s."""
    topology = "fat-tree:nodes=16,leaf-ports=8:2,spines=1,spine-ports=4,link=800Mbit/s"
    rows = answer("alltoall", "--ranks", "16", "--bytes", "1MB", "--algorithm", "linear", "--topology", topology)
    assert rows["linear"]["time_s"] is None
    assert rows["linear"]["low_s"] == pytest.approx(64e6 / 2e8)


def test_a_bound_wins_nothing() -> None:
    """65,280 messages of linear are bounded, 2,048 of bruck simulated: linear may be quicker, which is said."""
    words = ("--ranks", "256", "--bytes", "64KiB", "--algorithm", "linear,bruck")
    (made,) = told("alltoall", *words, "--topology", "torus:8x8x4,link=100Mbit/s")["predictions"]
    rows = {row["algorithm"]: row for row in made["algorithms"]}
    # 128 · 128 blocks cross the 64 links between the halves of the torus.
    assert rows["linear"]["low_s"] == pytest.approx(128 * 128 * 65536 / (64 * 12.5e6))
    assert (rows["linear"]["time_s"], rows["bruck"]["method"]) == (None, "simulated")
    assert (made["best"], made["told_apart"], made["not_told_apart_from"]) == ("bruck", False, ["linear"])


def test_the_best_segment_is_as_good_as_any_that_is_simulated() -> None:
    """Smaller segments are more messages than are simulated on the links; one link alone takes 336 ms."""
    words = ("bcast", "--ranks", "64", "--bytes", "4MiB", "--algorithm", "pipeline")
    on = ("--topology", "torus:4x4x4,link=100Mbit/s", "--segment")
    sizes_KiB = (1024, 256, 64, 32, 16, 8)
    rows = [answer(*words, *on, f"{size_KiB}KiB")["pipeline"] for size_KiB in sizes_KiB]
    times = [row["time_s"] for row in rows if row["method"] == "simulated"]
    assert (rows[-1]["method"], rows[-1]["time_s"]) == ("unshared", None)
    best = answer(*words, *on, "best")["pipeline"]
    assert 4 * 2**20 / 12.5e6 <= best["time_s"] <= min(times) * (1 + 1e-9)


def test_ranks_of_a_node_need_no_network(tmp_path: Path) -> None:
    """A chain that stays on a node half of the time is quicker than one that never does."""
    machine = version_1()
    inside = next(entry for entry in machine.point_to_point if entry.locality == "package")
    machine.point_to_point.append(inside.model_copy(update={"locality": "node"}))
    save(machine, tmp_path / "machine.json")
    tree = "fat-tree:nodes=16,leaf-ports=8:8,spines=1,spine-ports=16,link=10Gbit/s"
    words = ["bcast", "--ranks", "16", "--bytes", "8", "--algorithm", "pipeline"]
    words += ["--machine", str(tmp_path / "machine.json")]
    times_s = []
    for ppn in ("1", "2", "16"):
        code, out, err = outcome("predict", *words, "--topology", tree, "--ppn", ppn, "--json")
        assert code == 0, out + err
        times_s.append(json.loads(out)["predictions"][0]["algorithms"][0]["time_s"])
    apart_s, pairs_s, together_s = times_s
    # 15 messages one after another: 7 of 15 between nodes, and none.
    assert pairs_s == pytest.approx((7 * apart_s + 8 * together_s) / 15)
    assert together_s < pairs_s < apart_s


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bcast", "--ranks", "8", "--topology", "torus:4", "--ppn", "1"], "need 8 nodes"),
        (
            ["bcast", "--ranks", "8", "--topology", "torus:8", "--system", "orfeo-epyc", "--mapping", "core"],
            "both say where",
        ),
        (["jacobi", "--ranks", "8", "--grid", "2x2x2", "--topology", "hypercube:3"], "links of a torus"),
    ],
)
def test_refused(words: list[str], said: str) -> None:
    code, _, err = outcome("predict", *words, "--machine", "bluegene_p")
    assert code == 2
    assert said in err


def test_a_link_of_unknown_rate_is_refused() -> None:
    code, _, err = outcome("predict", "bcast", "--ranks", "8", "--machine", "orfeo_thin", "--topology", "torus:8")
    assert code == 2
    assert "link=10Gbit/s" in err


def test_an_application_shares_the_links() -> None:
    """Faces of a cube of blocks cross far on a ring of nodes: longer than where links are free."""
    words = ["jacobi", "--subdomain", "32", "--grid", "4x4x4", "--cell-time", "1ns"]
    free, shared = told(*words), told(*words, "--topology", "torus:64,link=1Gbit/s")
    assert shared["time_s"] > 1.2 * free["time_s"]
