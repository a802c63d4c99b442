"""`hockney diff`: text, JSON and exit codes for two machine files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome

MACHINE = Path(__file__).parents[1] / "machine" / "data" / "version1.json"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the verb in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        return outcome("diff", *arguments)

    return call


def planted(factor: float) -> Path:
    """`MACHINE` with the first entry's latency by the piecewise model times `factor`, as a file."""
    data: dict[str, Any] = json.loads(MACHINE.read_text(encoding="utf-8"))
    alpha = data["point_to_point"][0]["fits"]["piecewise"]["regimes"][0]["alpha_s"]
    for name in ("value", "low", "high"):
        alpha[name] *= factor
    path = Path("planted.json")
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_planted_difference(run: Run) -> None:
    code, out, _ = run(MACHINE, planted(2))
    assert code == 0, "a difference is an answer, not a failure"
    [line] = [line for line in out.splitlines() if "differs" in line]
    assert line.split()[:3] == ["latency", "0.2", "µs"]
    assert "1 differ (their 95 % intervals are apart)" in out
    assert "if nothing differed, at most" in out


def test_check_says_it_by_the_exit_code(run: Run) -> None:
    assert run(MACHINE, planted(2), "--check")[0] == 1
    assert run(MACHINE, planted(1.01), "--check")[0] == 0


def test_check_sees_what_is_lost(run: Run) -> None:
    data = json.loads(MACHINE.read_text(encoding="utf-8"))
    del data["point_to_point"][0]
    Path("less.json").write_text(json.dumps(data), encoding="utf-8")
    assert run(MACHINE, "less.json", "--check")[0] == 1
    assert run("less.json", MACHINE, "--check")[0] == 0


def test_json(run: Run) -> None:
    code, out, _ = run(MACHINE, planted(2), "--json", "--points")
    data = json.loads(out)
    assert (code, data["differ"]) == (0, 1)
    assert data["a"]["system"] == "twin"
    [one] = [one for one in data["comparisons"] if one["verdict"] == "differs"]
    assert (one["quantity"], one["ratio"]) == ("latency", pytest.approx(2))
    assert one["ratio_low"] < 2 < one["ratio_high"]
    assert data["expected_by_chance_at_most"] == pytest.approx(0.05 * data["judged"])
    assert any(one["quantity"] == "time of 64 KiB" for one in data["comparisons"])


def test_published_machines_have_no_intervals(run: Run) -> None:
    code, out, _ = run("bluegene_p", "orfeo_thin", "--json")
    data = json.loads(out)
    assert (code, data["judged"], data["differ"]) == (0, 0, 0)
    latency, bandwidth = data["comparisons"]
    # 0.981388 µs of UCX over InfiniBand against 4.5 µs of equation (1).
    assert latency["ratio"] == pytest.approx(0.981388 / 4.5)
    assert latency["verdict"] == bandwidth["verdict"] == "no interval"
    assert "bcast" in data["only_in_a"]


def test_a_file_that_is_not_there(run: Run) -> None:
    code, _, err = run(MACHINE, "nothing.json")
    assert code == 2
    assert "there is no machine file nothing.json" in err
