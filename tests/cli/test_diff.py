"""`hockney diff`: text, JSON and exit codes for two machine files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import Run
from tests.factories import VERSION_1 as MACHINE
from tests.factories import verb

run = verb("diff", columns=160)


def planted(factor: float, launches: int = 3) -> Path:
    """`MACHINE` in so many launches, with the first entry's latency by the piecewise model times `factor`."""
    data: dict[str, Any] = json.loads(MACHINE.read_text(encoding="utf-8"))
    for entry in data["point_to_point"]:
        for point in entry["measurements"]["points"]:
            point["records"] = launches
    alpha = data["point_to_point"][0]["fits"]["piecewise"]["regimes"][0]["alpha_s"]
    for name in ("value", "low", "high"):
        alpha[name] *= factor
    path = Path(f"times_{factor}_in_{launches}.json")
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.usefixtures("wide")
def test_a_planted_difference(run: Run) -> None:
    out = run.prints(planted(1), planted(2))
    [line] = [line for line in out.splitlines() if "differs" in line]
    assert line.split()[:3] == ["latency", "0.2", "µs"]
    assert "1 differ (by more than chance)" in out
    assert "differences found: 1, of which at most 5 % are expected to be false" in out


def test_check_says_it_by_the_exit_code(run: Run) -> None:
    assert run(planted(1), planted(2), "--check")[0] == 1
    assert run(planted(1), planted(1.01), "--check")[0] == 0


def test_check_is_silent_about_what_could_not_be_judged(run: Run) -> None:
    out = run.prints(planted(1), planted(2, launches=2), "--check")
    assert "not judged, for that takes 3 launches a side: B has 2 launches" in out


def test_imported_files_are_not_judged_and_nobody_measures_them_again(run: Run) -> None:
    sides = [planted(factor, launches=1) for factor in (1, 4)]
    for path in sides:
        data = json.loads(path.read_text(encoding="utf-8"))
        for launch in data["provenance"]["launches"]:
            launch["imported"] = "osu.txt"
        path.write_text(json.dumps(data), encoding="utf-8")
    _, out, _ = run(*sides)
    assert "imported, not judged: factor 4 at most" in out
    assert "measure again" not in out


def test_check_sees_what_is_lost(run: Run) -> None:
    data = json.loads(MACHINE.read_text(encoding="utf-8"))
    del data["point_to_point"][0]
    Path("less.json").write_text(json.dumps(data), encoding="utf-8")
    assert run(MACHINE, "less.json", "--check")[0] == 1
    assert run("less.json", MACHINE, "--check")[0] == 0


def test_json(run: Run) -> None:
    data = run.answers(planted(1), planted(2), "--points")
    assert data["differ"] == 1
    assert data["a"]["system"] == "twin"
    [one] = [one for one in data["comparisons"] if one["verdict"] == "differs"]
    assert (one["quantity"], one["ratio"]) == ("latency", pytest.approx(2))
    assert one["ratio_low"] < 2 < one["ratio_high"]
    assert one["judged"]
    assert one["p"] <= one["p_corrected"] <= data["false_share_at_most"] == 0.05
    assert (one["launches_a"], one["launches_b"]) == (3, 3)
    assert data["expected_by_chance_at_most"] == pytest.approx(0.05)
    assert (data["not_judged"], data["not_judged_because"]) == (0, "")
    assert data["warnings"] == {"a": [], "b": []}
    assert any(one["quantity"] == "time of 64 KiB" for one in data["comparisons"])


def test_published_machines_have_no_intervals(run: Run) -> None:
    data = run.answers("bluegene_p", "orfeo_thin")
    assert (data["judged"], data["differ"]) == (0, 0)
    latency, bandwidth = data["comparisons"]
    # 0.981388 µs of UCX over InfiniBand against 4.5 µs of equation (1).
    assert latency["ratio"] == pytest.approx(0.981388 / 4.5)
    assert latency["verdict"] == bandwidth["verdict"] == "no interval"
    assert "bcast" in data["only_in_a"]
