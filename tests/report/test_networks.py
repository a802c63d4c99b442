"""Pictures of networks: what is cut is drawn as cut, nodes have their half's colour, large ones are folded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PatchCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from tests.factories import written

from hockney.network.bisection.measure import measure
from hockney.network.topologies.base import parse_spec
from hockney.report.networks import CUT, HALVES, OTHER, draw
from hockney.report.style import drawing_style


def drawn(spec: str, nodes: int | None = None) -> tuple[Figure, str]:
    network = parse_spec(spec)
    allocation = np.arange(network.nodes if nodes is None else nodes)
    with drawing_style():
        drawing = draw(measure(network, allocation))
        drawing.figure.canvas.draw()
    return drawing.figure, drawing.alt


def colour_of(colours: object) -> str:
    """The one colour of a collection; "" where it has no members."""
    rgba = np.asarray(colours)
    return to_hex((rgba[0][0], rgba[0][1], rgba[0][2])).upper() if len(rgba) else ""


def lines(figure: Figure, colour: str) -> int:
    found = [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]
    return sum(len(one.get_segments()) for one in found if colour_of(one.get_color()) == colour)


def dots(figure: Figure, colour: str) -> int:
    found = [one for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    fitting = (one for one in found if colour_of(one.get_facecolor()) == colour.upper())
    return sum(len(np.asarray(one.get_offsets())) for one in fitting)


@pytest.mark.parametrize(
    ("spec", "nodes", "cut", "halves"),
    [
        # A line for each bundle: leaf 1 to four spines.
        ("fat-tree:nodes=48,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48", 32, 4, (16, 16)),
        ("hypercube:4", 16, 8, (8, 8)),
        # 2 · 4 links between columns; the four around are drawn as two stubs each.
        ("torus:6x4", 24, 4 + 2 * 4, (12, 12)),
        ("single-switch:9", 9, 4, (5, 4)),
        ("dragonfly:routers=2,nodes-per-router=1,global-links=1", 6, 2, (3, 3)),
    ],
)
def test_the_cut_and_the_halves(spec: str, nodes: int, cut: int, halves: tuple[int, int]) -> None:
    figure, _ = drawn(spec, nodes)
    assert lines(figure, CUT) == cut
    assert sorted(dots(figure, colour) for colour, _ in HALVES) == sorted(halves)
    assert dots(figure, OTHER) == parse_spec(spec).nodes - nodes


@pytest.mark.parametrize(
    ("spec", "note", "bars"),
    [
        ("fat-tree:nodes=500,leaf-ports=18:18,spines=18,spine-ports=36", "a bar stands for the nodes", 28),
        ("single-switch:1000", "a bar stands for the nodes", 1),
        ("hypercube:10", "a subcube of 4 nodes", 256),
        ("torus:20x20x20", "the first 10 of 20 slices", 0),
        ("dragonfly:routers=8,nodes-per-router=4,global-links=4", "a group of 8 routers and 32 nodes", 33),
    ],
)
def test_large_networks_are_folded_and_say_so(spec: str, note: str, bars: int) -> None:
    figure, alt = drawn(spec)
    assert note in alt
    patches = [one for one in figure.axes[0].collections if isinstance(one, PatchCollection)]
    # A bar that the cut divides has two parts.
    assert bars <= sum(len(one.get_paths()) for one in patches) <= bars + 2


def test_the_legend_says_what_is_cut_and_not_drawn() -> None:
    figure, _ = drawn("torus:4x4x4", 20)
    texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert any(text.startswith("cut: ") for text in texts)
    assert "not allocated: 44 nodes" in texts


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("hypercube:3", "link"),
        # Sixteen uplinks of a leaf to four spines, and two links from each node to its leaf.
        (
            "fat-tree:nodes=48,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48",
            "2 to 4 links: the wider the more",
        ),
        ("fat-tree:nodes=48,links-per-node=4,leaf-ports=64:16,spines=4,spine-ports=48", "4 links"),
    ],
)
def test_the_legend_says_how_many_links_a_line_stands_for(spec: str, words: str) -> None:
    figure, _ = drawn(spec)
    assert words in [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize(
    "text", ["a b\n", "a b\nb c\nc a\n", "switch s\nnode a\na s\n", "switch s t\na s\ns t\nt b\n"]
)
def test_small_edge_lists(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "network.txt", text)
    figure, alt = drawn(f"edges:{path}")
    assert "edge list" in alt
    assert sum(dots(figure, colour) for colour, _ in HALVES) == parse_spec(f"edges:{path}").nodes
