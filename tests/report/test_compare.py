"""Campaigns compared on one page: planted ratios come back; what cannot be told apart is not called different."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.explorer.planted import planted

from hockney.errors import RequestError
from hockney.records import table
from hockney.report.compare import compare
from hockney.report.make import write_csv


def test_planted_ratios_come_back(tmp_path: Path) -> None:
    """B takes twice the time but for chains, which take as long; the library differs, and is what is compared."""
    a, b = planted(tmp_path / "a.csv", system="s"), planted(tmp_path / "b.csv", factor=2.0, system="s")
    frame = table.load(b)
    is_chain = frame["algorithm"] == "chain"
    for name in ("time_s", "low_s", "high_s"):
        frame.loc[is_chain, name] /= 2
    table.write(frame.assign(mpi="other"), b)
    report = compare([a, b])
    assert [section.id for section in report.sections] == ["pingpong", "bcast", "reduce"]
    rows = {row["algorithm"]: row for row in report.sections[1].rows["ratios"]}
    assert rows["binomial"]["ratio"] == pytest.approx(2.0, rel=1e-6)
    assert rows["binomial"]["is_told"]
    assert rows["chain"]["ratio"] == pytest.approx(1.0, rel=1e-6)
    assert not rows["chain"]["is_told"]
    (said,) = [one.text for one in report.findings if one.text.startswith("bcast")]
    # 2 placements, 5 numbers of ranks, 4 sizes, of 3 algorithms; chains are a third of them.
    assert (
        "median of 120 points; it is slower at 80 and faster at 0, and at 40 the two cannot be told apart" in said
    )
    assert "× 2.00" in said
    assert {path.name for path in write_csv(report, tmp_path)} >= {"bcast-ratios.csv"}


def test_every_sentence_leads_to_its_figure(tmp_path: Path) -> None:
    report = compare([planted(tmp_path / "a.csv"), planted(tmp_path / "b.csv", 1.5)])
    for anchor in re.findall(r'href="#([^"]+)"', report.html):
        assert f'id="{anchor}"' in report.html


def test_three_are_set_against_the_first(tmp_path: Path) -> None:
    paths = [planted(tmp_path / name, factor, "s") for name, factor in (("a.csv", 1), ("b.csv", 2), ("c.csv", 4))]
    report = compare(paths)
    medians = {row["campaign"]: row["ratio"] for row in report.sections[0].rows["ratios"]}
    assert medians == {"b.csv": pytest.approx(2.0, rel=1e-6), "c.csv": pytest.approx(4.0, rel=1e-6)}


def test_nothing_in_common_is_refused(tmp_path: Path) -> None:
    a, b = planted(tmp_path / "a.csv"), planted(tmp_path / "b.csv")
    frame = table.load(b)
    table.write(frame.assign(ranks=frame["ranks"] * 64, bytes=frame["bytes"] + 7), b)
    with pytest.raises(RequestError, match="no point in common"):
        compare([a, b])
    with pytest.raises(RequestError, match="named twice"):
        compare([a, a])
