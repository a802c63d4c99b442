"""Campaigns compared on one page: planted ratios come back; what cannot be told apart is not called different."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from tests.factories import refusing
from tests.report.explorer.planted import planted

from hockney.errors import RequestError
from hockney.records import table
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.records.contents import Contents, read
from hockney.records.journal import LaunchLine
from hockney.report import compare as module
from hockney.report.compare import compare
from hockney.report.make import write_csv

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(autouse=True, scope="module")
def _without_models() -> Iterator[None]:
    """A comparison shows no models of collectives, and fitting them takes most of its time."""
    with patch("hockney.machine.collectives.collectives_of", lambda *_, **__: []):
        yield


def test_planted_ratios_come_back(tmp_path: Path) -> None:
    """B takes twice the time but for chains, which take as long; the library differs, and is what is compared."""
    a, b = planted(tmp_path / "a.csv", system="s"), planted(tmp_path / "b.csv", factor=2.0, system="s")
    frame = table.load(b)
    is_chain = frame["algorithm"] == "chain"
    for name in ("time_s", "low_s", "high_s"):
        frame.loc[is_chain, name] /= 2
    table.write(frame.assign(mpi="other"), b)
    report = compare([a, b])
    assert [section.id for section in report.sections] == ["pingpong", "bcast", "reduce", "barrier"]
    rows = {row["algorithm"]: row for row in report.sections[1].rows["ratios"]}
    assert rows["binomial"]["ratio"] == pytest.approx(2.0, rel=1e-6)
    assert rows["binomial"]["is_told"]
    assert rows["chain"]["ratio"] == pytest.approx(1.0, rel=1e-6)
    assert not rows["chain"]["is_told"]
    (said,) = [one for one in report.findings if one.text.startswith("bcast")]
    # 2 placements, 5 numbers of ranks, 4 sizes, of 3 algorithms; chains are a third of them.
    assert said.text == "bcast: a.csv is 2.00 × faster than b.csv (1.00 to 2.00 ×, 120 points)."
    assert said.verdict == "fact"
    assert {path.name for path in write_csv(report, tmp_path)} >= {"bcast-ratios.csv"}


def test_every_sentence_leads_to_its_figure(tmp_path: Path) -> None:
    report = compare([planted(tmp_path / "a.csv"), planted(tmp_path / "b.csv", 1.5)])
    anchors = re.findall(r'href="#([^"]+)"', report.html)
    assert {finding.anchor for finding in report.findings} <= set(anchors)
    for anchor in anchors:
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


def test_runs_of_applications_are_sent_to_one_campaign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two rings share a figure in a report of both together."""
    empty = table.load(planted(tmp_path / "a.csv")).iloc[:0]
    ring = AppRecord(operation="ring", ranks=2, parameters={}, time_s=1e-6, answer=Answer())
    monkeypatch.setattr(module, "read", lambda path: Contents(path, empty, apps=[ring]))
    with refusing("no point in common", "hockney merge"):
        compare([tmp_path / "a", tmp_path / "b"])


def _with_statistics(path: Path, **of: tuple[str, ...]) -> Path:
    """The table with the collectives in these statistics: the second at thrice the time, and so on."""
    frame = table.load(path)
    others = [frame[~frame["operation"].isin(of)]]
    for operation, statistics in of.items():
        rows = frame[frame["operation"] == operation]
        for i, statistic in enumerate(statistics):
            times = {name: rows[name] * 3**i for name in ("time_s", "low_s", "high_s")}
            others.append(rows.assign(statistic=statistic, **times))
    table.write(pd.concat(others), path)
    return path


def test_only_times_of_one_statistic_are_compared(tmp_path: Path) -> None:
    """A says more of bcast than B: their mean is what both have. Of reduce they share nothing."""
    a = _with_statistics(planted(tmp_path / "a.csv"), bcast=("completion", "mean_over_ranks"))
    b = planted(tmp_path / "b.csv", factor=2.0)
    b = _with_statistics(b, bcast=("mean_over_ranks",), reduce=("mean_over_ranks",))
    report = compare([a, b])
    assert "reduce" not in [section.id for section in report.sections]
    (bcast,) = [section for section in report.sections if section.id == "bcast"]
    # Twice the time, over that of A's second statistic, which is thrice that of its first.
    assert [row["ratio"] for row in bcast.rows["ratios"]] == pytest.approx([2 / 3] * 120, rel=1e-5)
    (said,) = [one for one in report.warnings if one.startswith("reduce")]
    assert "a.csv has completion; b.csv has mean_over_ranks" in said
    assert said in report.html
    only = _with_statistics(planted(tmp_path / "c.csv"), bcast=("completion", "mean_over_ranks"))
    asked = compare([a, only], "mean_over_ranks")
    assert any("reduce has no mean_over_ranks: shown is completion" in one for one in asked.warnings)


def test_each_source_has_the_warnings_of_its_own_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the second launches were oversubscribed, and said something; repetitions of the first contradict."""
    a, b = planted(tmp_path / "a.csv"), planted(tmp_path / "b.csv")
    for path in (a, b):
        table.write(table.load(path).assign(locality="cache"), path)
    assert "No warnings" in compare([a, b]).html
    frame = table.load(a)
    again = frame.assign(repetition=1, **{name: 9 * frame[name] for name in ("time_s", "low_s", "high_s")})
    table.write(pd.concat([frame, again]), a)
    frame = table.load(b)
    table.write(frame[frame["operation"] != "pingpong"], b)
    launches = [LaunchLine(id="1", oversubscribed=True, warnings=["The cores were shared."])]

    def with_launches(path: Path) -> Contents:
        contents = read(path)
        return replace(contents, launches=launches) if path == b else contents

    monkeypatch.setattr(module, "read", with_launches)
    report = compare([a, b])
    assert "No warnings" not in report.html
    for start in ("a.csv: Repetitions of ", "b.csv: Oversubscribed", "b.csv: The cores were shared."):
        assert any(line.startswith(start) for line in report.warnings), report.warnings
