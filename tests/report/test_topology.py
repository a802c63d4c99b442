"""The section on the network: what was described, what cannot be drawn."""

from __future__ import annotations

from hockney.report.style import drawing_style
from hockney.report.topology import section


def test_a_torus_is_drawn_with_its_measures() -> None:
    told: list[str] = []
    with drawing_style():
        made = section("torus:4x4,link=10Gbit/s", told)
    assert made is not None
    assert not told
    # 2k links are cut in a k-ary 2-cube of even k, k links in each of two places.
    values = {row[0]: row[1] for row in made.tables[0].rows}
    assert values["bisection width"] == "8 links"
    assert values["bisection bandwidth"] == "80 Gbit/s"
    assert values["hops, at most"] == "4"
    assert made.figures


def test_no_topology_no_section_and_a_wrong_one_is_told() -> None:
    told: list[str] = []
    assert section("", told) is None
    assert not told
    assert section("edges:nowhere.txt", told) is None
    assert "nowhere.txt" in told[0]
