"""The section on the network: what was described, what cannot be drawn."""

from __future__ import annotations

from hockney.report.style import drawing_style
from hockney.report.topology import contribution


def test_a_torus_is_drawn_with_its_measures() -> None:
    with drawing_style():
        made = contribution("torus:4x4,link=10Gbit/s")
    assert not made.warnings
    (section,) = made.sections
    # 2k links are cut in a k-ary 2-cube of even k, k links in each of two places.
    values = {row[0]: row[1] for row in section.tables[0].rows}
    assert values["bisection width"] == "8 links"
    assert values["bisection bandwidth"] == "80 Gbit/s"
    assert values["hops, at most"] == "4"
    assert section.figures


def test_a_topology_that_cannot_be_read_is_told() -> None:
    made = contribution("edges:nowhere.txt")
    assert made.sections == []
    assert "nowhere.txt" in made.warnings[0]
