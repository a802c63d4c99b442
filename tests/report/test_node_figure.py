"""The nodes of a launch, with its ranks on their CPUs."""

from __future__ import annotations

from pathlib import Path

from tests.planted_node import plant_node

from hockney.records.answers import RankPlace
from hockney.records.journal import LaunchLine
from hockney.report.node_figure import of_launches
from hockney.report.provenance import tables
from hockney.report.style import drawing_style
from hockney.runner.inventory import node


def _launch(root: Path, hosts: list[str]) -> LaunchLine:
    described = node(plant_node(root, threads=2)).model_copy(update={"hosts": hosts})
    ranks = [{"rank": rank, "host": hosts[0], "cpu": cpu} for rank, cpu in enumerate((0, 1, 24))]
    return LaunchLine.model_validate({"nodes": [described], "ranks": ranks})


def test_every_cpu_is_drawn_and_ranks_stand_on_theirs(tmp_path: Path) -> None:
    with drawing_style():
        drawing = of_launches([LaunchLine(), _launch(tmp_path, ["n1", "n2"])])
    assert drawing is not None
    texts = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert {str(cpu) for cpu in range(48)} <= set(texts)
    # Two packages, each with one NUMA domain and one last-level cache, counted over the node.
    for title in ("n1 (and 1 alike)", "package 0", "package 1", "NUMA 0", "NUMA 1", "cache 0", "cache 1"):
        assert texts.count(title) == 1, title
    # CPUs 0 and 24 are one core: its cell has the second thread below the first.
    cells = [text for text in drawing.figure.axes[0].texts if text.get_horizontalalignment() == "left"]
    at = {text.get_text(): text.get_position() for text in cells}
    assert at["0"][0] == at["24"][0] != at["2"][0]
    ranks = [
        text.get_text() for text in drawing.figure.axes[0].texts if text.get_horizontalalignment() == "center"
    ]
    assert sorted(filter(None, ranks)) == ["0", "1", "2"]


def test_launches_that_describe_no_node_have_no_figure() -> None:
    assert of_launches([]) is None
    assert of_launches([LaunchLine(ranks=[RankPlace(rank=0, host="n1", cpu=0)])]) is None


def test_nodes_that_are_alike_share_a_table(tmp_path: Path) -> None:
    lines = [_launch(tmp_path / "a", ["n1", "n2"]), _launch(tmp_path / "b", ["n3"])]
    (table,) = [one for one in tables(lines) if one.caption.startswith("Node ")]
    assert table.caption == "Node n1, n2, n3"
    said = {row[0]: row[1] for row in table.rows}
    assert said["adapter mlx5_0, port 1"] == (
        "InfiniBand, 100 Gb/sec (4X EDR), active, MT4119, driver mlx5_core, NUMA domain 1, interfaces ib0"
    )
    assert said["interface em1"] == "Ethernet, up, 25 Gbit/s, MTU 1500, driver qede, port of br0"
    assert said["cores"].startswith("CPUs 0,24 | 1,25 | ")
    assert said["cores"].endswith("and 16 more")
