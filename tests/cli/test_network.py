"""`hockney network`: the issue's command, one JSON object, text, pictures, one clear line for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import Run

COOLMUC3 = "fat-tree:nodes=148,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48,link=100Gbit/s"


hockney = Run("network")
show = Run("network", "show", "--topology")


def test_a_fat_tree_of_148_nodes() -> None:
    data = show.answers(COOLMUC3, "--allocation", "0-31")
    wanted = {
        "leaf_switches": 10,
        "taper": 2.0,
        "spine_ports_used": 40,
        "spine_ports_free": 8,
        "bisection_links": 16,
        "bisection_bandwidth_bit_per_s": 1.6e12,
    }
    assert {name: data[name] for name in wanted} == wanted
    assert show.answers(COOLMUC3, "--allocation", "0-15,16-31") == data


def test_text() -> None:
    out = show.prints(COOLMUC3, "--allocation", "0-31")
    assert "bisection of nodes 0-31: 16 links" in out
    assert "bisection bandwidth of nodes 0-31: 1,600 Gbit/s" in out
    assert "spine ports free: 8" in out


@pytest.mark.parametrize(
    ("topology", "links", "diameter"),
    [
        ("torus:8x8x4", 2 * 8 * 4, 10),
        ("hypercube:10", 512, 10),
        ("single-switch:nodes=64", 32, 2),
        ("dragonfly:routers=2,nodes-per-router=1,global-links=1", 2, 5),
        ("fat-tree:nodes=16,leaf-ports=2:2,spines=2,spine-ports=2:2,cores=4,core-ports=4", 8, 6),
    ],
)
def test_every_topology(topology: str, links: int, diameter: int) -> None:
    data = show.answers(topology)
    assert (data["bisection_links"], data["diameter"]) == (links, diameter)
    assert data["bisection_bandwidth_bit_per_s"] is None
    out = show.prints(topology)
    assert f"bisection: {links} links" in out


def test_one_is_not_several() -> None:
    assert "1 node, 1 switch, 1 link\n" in show("single-switch:nodes=1")[1]
    assert "2 nodes, 1 switch, 2 links\n" in show("single-switch:nodes=2")[1]
    out = hockney("traffic", "--topology", "torus:4", "--pattern", "tornado")[1]
    assert "4 messages of 1 MiB, 1 hop on average" in out
    assert "1 message on the most loaded link" in out


def test_an_edge_list_and_its_picture(tmp_path: Path) -> None:
    path, picture = tmp_path / "network.txt", tmp_path / "network.svg"
    path.write_text("switch s\na s\nb s\nc s\n", encoding="utf-8")
    data = show.answers(f"edges:{path},link=1Gbit/s", "--figure", str(picture))
    assert (data["bisection_links"], data["figure"]) == (1, str(picture))
    assert picture.read_bytes().startswith(b"<?xml")


def test_what_is_not_proven_is_not_presented_as_exact() -> None:
    words = ("torus:8x8x4", "--allocation", "0-99")
    data = show.answers(*words)
    assert data["bisection_links"] is None
    assert data["bisection_links_exact"] is False
    assert data["bisection_links_low"] < data["bisection_links_high"]
    text = show(*words)[1]
    assert f"between {data['bisection_links_low']} (proven)" in text
