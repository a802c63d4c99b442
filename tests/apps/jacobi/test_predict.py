"""`hockney predict jacobi`, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import outcome

GIVEN = {
    "--serial-time": "15.3276s",
    "--network": "0.98us,12185MB/s",
    "--subdomain": "1200",
}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run it with table X's numbers, some left out or others: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str, without: str = "", **other: str) -> tuple[int, str, str]:
        options = {**GIVEN, **{f"--{name.replace('_', '-')}": value for name, value in other.items()}}
        given = [word for name, value in options.items() if name != without for word in (name, value)]
        return outcome("predict", "jacobi", *given, *words)

    return call


def test_a_printed_row(run: Run) -> None:
    code, out, err = run("--grid", "24x1x1", "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    (row,) = made["grids"]
    # Table X of the report that the formula comes from.
    assert (row["grid"], f"{row['mlups']:.3f}") == ("24x1x1", "2705.040")
    assert "c = 16·k·L² B" in made["formula"]
    # 46.08 MB / 12185 MB/s + 2 · 0.98 µs
    assert row["communication_s"] == pytest.approx(46.08 / 12185 + 1.96e-6)
    assert row["time_s"] == pytest.approx(15.3276 + row["communication_s"])
    assert row["efficiency"] == pytest.approx(15.3276 / row["time_s"])


def test_all_grids_stand_fastest_first(run: Run) -> None:
    code, out, _ = run("--grid", "all", "--ranks", "24,48", "--json")
    assert code == 0
    # 24 = 2³ · 3 has 30 grids, 48 = 2⁴ · 3 has 45.
    rows = json.loads(out)["grids"]
    assert len(rows) == 75
    for group in (rows[:30], rows[30:]):
        times = [row["time_s"] for row in group]
        assert times == sorted(times)
    assert [row["grid"] for row in rows[30:33]] == ["48x1x1", "1x48x1", "1x1x48"]


@pytest.mark.usefixtures("wide")
def test_text(run: Run) -> None:
    code, out, err = run("--grid", "4x3x2", "--grid", "24x1x1")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0].startswith("jacobi, 1200³ cells each: P = L³N / (T_s + T_c)")
    # Table X of the report that the formula comes from.
    assert lines[3].startswith("24 24x1x1 2 46.08 MB 2705.040 1.000 ")
    assert lines[4].startswith("24 4x3x2 6 138.24 MB 2703.705 1.001 ")


@pytest.mark.parametrize("name", ["--network", "--subdomain"])
def test_what_is_missing_is_named(run: Run, name: str) -> None:
    code, out, err = run("--grid", "24x1x1", without=name)
    assert (code, out) == (2, "")
    assert "--serial-time needs --network LATENCY,BANDWIDTH and --subdomain" in err.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "24x1x1", "--ranks", "48"], "has 24 processes, not 48"),
        (["--grid", "24x1x1", "--ranks", "0"], "0 is none of 1 to"),
        (["--grid", "all"], "needs --ranks"),
        (["--grid", "all", "--grid", "8x1x1", "--ranks", "8"], "holds every other"),
        (["--grid", "24x1x1", "--subdomain", "0"], "greater than or equal to 1"),
        (["--grid", "24x1x1", "--subdomain", "1000001"], "less than or equal to 1000000"),
        (["--grid", "24x1x1", "--serial-time", "0s"], "greater than 0"),
        (["--grid", "24x1x1", "--network", "-1us,1GB/s"], "'-1us' is not a time"),
        (["--grid", "24x1x1", "--network", "1us,0GB/s"], "moves nothing"),
        (["--grid", "24x1x1", "--network", "1us,1e-320B/s"], "too little"),
        (["--grid", "24x1x1", "--network", "1us"], "needs --network LATENCY,BANDWIDTH"),
        ([], "no grid is given"),
        (["--grid", "24x1x1", "--bytes", "8"], "No such option: --bytes"),
        (["--grid", "24x1x1", "--machine", "m.json"], "--machine means nothing"),
        (["--grid", "24x1x1", "--cell-time", "1ns"], "--cell-time means nothing"),
        (["--grid", "24x1x1", "--table", "folder"], "--table means nothing with --serial-time"),
    ],
)
def test_a_wrong_request_is_one_line(run: Run, words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[0]
    code, out, _ = run(*words, "--json")
    assert code == 2
    assert message in json.loads(out)["error"]["message"]
