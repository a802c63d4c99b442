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
    "--model": "weak_scaling_jacobi",
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
    # Table X of the report that the formula comes from.
    assert f"{made['mlups']:.3f}" == "2705.040"
    assert (made["grid"], made["ranks"], made["model"]) == ("24x1x1", 24, "weak_scaling_jacobi")
    assert "c = 16·k·L² B" in made["formula"]
    # 46.08 MB / 12185 MB/s + 2 · 0.98 µs
    assert made["communication_s"] == pytest.approx(46.08 / 12185 + 1.96e-6)
    assert made["time_s"] == pytest.approx(15.3276 + made["communication_s"])
    assert made["efficiency"] == pytest.approx(15.3276 / made["time_s"])
    assert made["tied"] == []


def test_all_grids_are_ranked_and_ties_said(run: Run) -> None:
    code, out, _ = run("--grid", "all", "--ranks", "48", "--json")
    assert code == 0
    made = json.loads(out)
    assert (made["grid"], made["tied"]) == ("48x1x1", ["1x48x1", "1x1x48"])
    assert len(made["grids"]) == 45
    times = [one["time_s"] for one in made["grids"]]
    assert times == sorted(times)
    places = {one["grid"]: one["place"] for one in made["grids"]}
    assert (places["24x2x1"], places["4x4x3"]) == (4, 28)


@pytest.mark.usefixtures("wide")
def test_text(run: Run) -> None:
    code, out, err = run("--grid", "4x3x2", "--grid", "24x1x1", "--grid", "1x24x1")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "jacobi on 24 ranks, 1200³ cells each — weak_scaling_jacobi"
    # Table X of the report that the formula comes from.
    assert lines[4].startswith("24 24x1x1, 1x24x1 2 46.08 MB 2705.040 1.000 ")
    assert lines[5].startswith("24 4x3x2 6 138.24 MB 2703.705 1.001 ")
    assert lines[6] == "tie: 24x1x1, 1x24x1 take exactly the same time"
    assert lines[7].startswith("24x1x1, 1x24x1 are fastest, by 0.049 %")
    assert lines[-2:] == [
        "communication exceeds 10 % of the time on no number of ranks",
        "communication exceeds 50 % of the time on no number of ranks",
    ]


def test_where_communication_matters(run: Run) -> None:
    # C = 32 MB · k and 1 GB/s: 0.032 s for each direction, beside 0.3 s: 9.6 %, 17.6 %, 24.2 %.
    other = {
        "serial_time": "0.3s",
        "network": "0s,1GB/s",
        "subdomain": "1000",
        "model": "weak_scaling_jacobi_per_message",
    }
    made = json.loads(run("--grid", "2x2x2", "--json", **other)[1])
    assert [one["communication_share"] for one in made["weak_scaling"]] == pytest.approx(
        [0.032 / 0.332, 0.064 / 0.364, 0.096 / 0.396]
    )
    assert made["communication_exceeds"] == [
        {"share": 0.1, "ranks": 4, "directions": 2},
        {"share": 0.5, "ranks": None, "directions": None},
    ]
    assert (
        "exceeds 10 % of the time from 4 ranks on, on grids of at least 2" in run("--grid", "2x2x2", **other)[1]
    )


@pytest.mark.parametrize("name", [*GIVEN, "--grid"])
def test_what_is_missing_is_named(run: Run, name: str) -> None:
    grid = () if name == "--grid" else ("--grid", "24x1x1")
    code, out, err = run(*grid, without=name)
    assert (code, out) == (2, "")
    assert f"needs {name}" in err.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "24x1x1", "--ranks", "48"], "has 24 processes, not 48"),
        (["--grid", "24x1x1", "--ranks", "0"], "0 is none of 1 to"),
        (["--grid", "all"], "needs --ranks"),
        (["--grid", "all", "--grid", "8x1x1", "--ranks", "8"], "holds every other"),
        (["--grid", "24x1x1", "--subdomain", "0"], "greater than or equal to 1"),
        (["--grid", "24x1x1", "--serial-time", "0s"], "serial time must be positive"),
        (["--grid", "24x1x1", "--network", "-1us,1GB/s"], "'-1us' is not a time"),
        (["--grid", "24x1x1", "--network", "1us,0GB/s"], "moves nothing"),
        (["--grid", "24x1x1", "--network", "1us,1e-320B/s"], "too little"),
        (["--grid", "24x1x1", "--network", "1us"], "needs a latency and a bandwidth: --network"),
        (["--grid", "24x1x1", "--model", "weak_scaling"], "unknown --model 'weak_scaling'"),
        (["--grid", "24x1x1", "--bytes", "8"], "No such option: --bytes"),
        (["--grid", "24x1x1", "--machine", "m.json"], "stands in place of --machine"),
        (["--grid", "24x1x1", "--cell-time", "1ns"], "--cell-time means nothing"),
        (["--grid", "24x1x1", "--table", "folder"], "--table means nothing for the formulas"),
    ],
)
def test_a_wrong_request_is_one_line(run: Run, words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[0]
    code, out, _ = run(*words, "--json")
    assert code == 2
    assert message in json.loads(out)["error"]["message"]
