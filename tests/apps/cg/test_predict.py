"""`hockney predict jacobi` and `cg` from a machine file, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.answers import answering
from tests.command_line import outcome
from tests.factories import VERSION_1 as MACHINE

from hockney.apps.stencil.answer import StencilAnswer
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the verb in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str | Path) -> tuple[int, str, str]:
        if words[0] == "cg" and "--size" in words and "x" not in str(words[words.index("--size") + 1]):
            # A cube, in the words of `hockney run cg`.
            at = words.index("--size")
            words = (*words[:at], "--size", "x".join([str(words[at + 1])] * 3), *words[at + 2 :])
        return outcome("predict", *words)

    return call


def asked(run: Run, *words: str | Path) -> Any:
    code, out, _ = run(*words, "--json")
    assert code == 0, out
    return json.loads(out)


def folder_of_runs(path: Path, grids: list[tuple[int, int, int]], operation: str = "jacobi") -> Path:
    """Runs of 10 iterations on 48³ cells: 2 ns a cell, one rank on each node, 100 µs of messages each."""
    campaign = Campaign.create(path, {})
    for grid in grids:
        ranks = grid[0] * grid[1] * grid[2]
        cells = 48**3 / ranks
        parameters = {
            **dict(zip(("nx", "ny", "nz", "px", "py", "pz"), (48, 48, 48, *grid), strict=True)),
            "halo": "nonblocking",
            "faces": "datatype",
            "iterations": 10,
        }
        compute_s = 10 * cells * 2e-9
        campaign.append(
            AppRecord(
                operation=operation,
                ranks=ranks,
                nodes=ranks,
                parameters=parameters,
                time_s=compute_s + (10 * 1e-4 if ranks > 1 else 0),
                answer=StencilAnswer(compute_s=[compute_s] * ranks, halo_B=[0] * ranks),
            )
        )
    return path


def test_every_grid_is_ranked(run: Run) -> None:
    words = ("jacobi", "--size", "96", "--ranks", "12", "--cell-time", "1ns", "--machine", MACHINE)
    made = asked(run, *words, "--grid", "all")
    assert made["model"] == "simulated"
    assert len(made["grids"]) == 18  # 12 = 2²·3: C(4, 2) · 3 ordered factorisations
    times = [one["time_s"] for one in made["grids"]]
    assert times == sorted(times)
    assert made["grid"] == made["grids"][0]["grid"]
    # 96³ cells on 12 ranks, 1 ns each.
    assert made["compute_s"] == pytest.approx(96**3 / 12 * 1e-9)
    assert made["time_s"] == pytest.approx(made["compute_s"] + made["communication_s"])
    assert made["mlups"] == pytest.approx(96**3 / made["time_s"] / 1e6)
    assert made["low_s"] < made["time_s"] < made["high_s"]
    assert made["told_apart"] is False
    assert "1x1x12" not in made["not_told_apart_from"]


def test_without_a_grid_all_of_the_ranks_are_tried(run: Run) -> None:
    words = ("cg", "--size", "64", "--ranks", "6", "--cell-time", "1ns", "--machine", MACHINE)
    assert len(asked(run, *words)["grids"]) == 9


@pytest.mark.parametrize("operation", ["jacobi", "cg"])
def test_what_is_not_said_is_assumed_and_named(run: Run, operation: str) -> None:
    made = asked(run, operation, "--ranks", "48", "--grid", "all", "--machine", MACHINE)
    assert len(made["grids"]) == 45
    assert made["cells"] == [480, 480, 480]
    told = " ".join(made["warnings"])
    assert "480x480x480 cells are taken" in told
    assert "1 ns is taken" in told


def test_cg_takes_longer_by_its_sums(run: Run) -> None:
    grid = ("--size", "64", "--grid", "2x2x1")
    words = (*grid, "--cell-time", "1ns", "--machine", MACHINE)
    jacobi, cg = asked(run, "jacobi", *words), asked(run, "cg", *words, "--formulation", "fused")
    message = (
        "pingpong",
        "--bytes",
        "8",
        "--locality",
        "network",
        "--where",
        "variant=default",
        "--machine",
        MACHINE,
    )
    one_way_s = asked(run, *message)["predictions"][0]["time_s"]
    # Two sums of two rounds each, and a quarter of an iteration's computation in a hundred; ten sweeps of Jacobi
    # hide less of their first messages.
    once_s = 64**3 / 4 * 1e-9 / 4 / 100
    assert cg["time_s"] - jacobi["time_s"] == pytest.approx(4 * one_way_s + once_s, rel=0.03)


def test_a_rank_s_cube_is_weak_scaling(run: Run) -> None:
    made = asked(
        run, "jacobi", "--subdomain", "40", "--grid", "3x2x1", "--cell-time", "1ns", "--machine", MACHINE
    )
    assert made["cells"] == [120, 80, 40]
    assert made["compute_s"] == pytest.approx(40**3 * 1e-9)


def test_runs_tell_what_a_cell_takes_and_calibrate(run: Run, tmp_path: Path) -> None:
    runs = folder_of_runs(tmp_path / "runs", [(1, 1, 1), (2, 1, 1), (4, 1, 1), (2, 2, 1), (2, 2, 2)])
    made = asked(run, "jacobi", "--size", "48", "--grid", "4x2x1", "--table", runs, "--machine", MACHINE)
    assert made["compute_s"] == pytest.approx(48**3 / 8 * 2e-9 * made["tuned"]["compute"])
    assert made["calibrated_on"] == 4
    # Every measured run took 100 µs for its messages, far more than by the file: the fit goes most of the way.
    plain = asked(run, "jacobi", "--size", "48", "--grid", "4x2x1", "--cell-time", "2ns", "--machine", MACHINE)
    assert made["communication_s"] > 1.5 * plain["communication_s"]
    assert made["communication_s"] == pytest.approx(1e-4, rel=0.5)


def test_few_runs_still_tell_what_a_cell_takes(run: Run, tmp_path: Path) -> None:
    runs = folder_of_runs(tmp_path / "runs", [(1, 1, 1), (2, 1, 1)])
    made = asked(run, "jacobi", "--size", "48", "--grid", "2x1x1", "--table", runs, "--machine", MACHINE)
    assert made["calibrated_on"] == 0
    assert any("not calibrated" in text for text in made["warnings"])
    assert made["compute_s"] == pytest.approx(48**3 / 2 * 2e-9)


def test_a_box_of_another_size_is_warned_about(run: Run, tmp_path: Path) -> None:
    runs = folder_of_runs(tmp_path / "runs", [(1, 1, 1), (2, 1, 1)])
    made = asked(run, "jacobi", "--size", "480", "--grid", "2x1x1", "--table", runs, "--machine", MACHINE)
    assert any("caches" in text for text in made["warnings"])
    assert [made["low_s"], made["high_s"]] == [None, None]


def test_what_a_cell_may_take_beyond_the_runs_is_in_the_interval(run: Run, tmp_path: Path) -> None:
    """Runs of one rank on a node say nothing of four on one: each cell may take 2 ns, or four times as long."""
    runs = folder_of_runs(tmp_path / "runs", [(1, 1, 1)])
    words = ("jacobi", "--size", "76", "--grid", "4x1x1", "--machine", MACHINE, "--system", "orfeo-epyc")
    made = asked(run, *words, "--mapping", "core", "--table", runs)
    known = asked(run, *words, "--mapping", "core", "--cell-time", "2ns")
    assert made["time_s"] == pytest.approx(known["time_s"])
    assert made["low_s"] == pytest.approx(known["low_s"])
    assert made["high_s"] == pytest.approx(known["high_s"] + 3 * made["compute_s"])


def test_text_names_the_best_and_what_is_assumed(run: Run) -> None:
    code, out, err = run("cg", "--size", "64", "--ranks", "4", "--cell-time", "1ns", "--machine", MACHINE)
    assert code == 0
    assert "cg on 4 ranks, an iteration" in out
    assert "is predicted fastest" in out or "is fastest, by" in out
    assert "o and g are assumed" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--size", "64", "--subdomain", "8", "--grid", "2x1x1", "--cell-time", "1ns"], "both say"),
        (["--size", "64", "--cell-time", "1ns"], "no grid is given"),
        (["--size", "64", "--ranks", "0", "--cell-time", "1ns"], "0 is none of 1 to"),
        (["--size", "64", "--grid", "3x1x1", "--ranks", "4", "--cell-time", "1ns"], "has 3 processes, not 4"),
        (["--size", "4", "--grid", "8x1x1", "--cell-time", "1ns"], "only 4 cells to share"),
        (["--size", "0", "--grid", "1x1x1", "--cell-time", "1ns"], "direction without"),
        (["--size", "64", "--grid", "2x1x1", "--cell-time", "0s"], "greater than 0"),
        (["--size", "64", "--grid", "2x1x1", "--cell-time", "1ns", "--exchange", "pigeon"], "unknown --exchange"),
        (["--subdomain", "900000", "--grid", "2x1x1", "--cell-time", "1ns"], "a direction has 1 to"),
        (["--size", "1000000", "--grid", "2x1x1", "--cell-time", "1ms"], "are simulated"),
        (["--size", "1000", "--ranks", "1000000", "--cell-time", "1ns"], "are more than"),
        (["--size", "64", "--grid", "2x1x1", "--table", "nowhere"], "nowhere"),
        (["--size", "64", "--grid", "2x1x1", "--cell-time", "1ns", "--machine", "no.json"], "no.json"),
        (["--size", "64", "--grid", "2x1x1", "--cell-time", "1ns", "--ppn", "2"], "need --system"),
    ],
)
@pytest.mark.parametrize("operation", ["jacobi", "cg"])
def test_a_wrong_request_is_one_line(run: Run, operation: str, words: list[str], message: str) -> None:
    words = words if "--machine" in words else [*words, "--machine", str(MACHINE)]
    code, out, err = run(operation, *words)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[0]
    code, out, _ = run(operation, *words, "--json")
    assert code == 2
    assert message in json.loads(out)["error"]["message"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('"faces":"datatype",', "KeyError"),
        ('"nx":48', "ValueError"),
        ('"px":2', "is not one of 2 ranks"),
        ('"halo":"nonblocking"', "its exchange is not known"),
        ('"iterations":10', "a number that is too large"),
    ],
)
def test_a_damaged_run_is_left_out_and_named(run: Run, tmp_path: Path, change: str, message: str) -> None:
    runs = folder_of_runs(tmp_path / "runs", [(1, 1, 1), (2, 1, 1)])
    instead = {
        '"nx":48': '"nx":"many"',
        '"px":2': '"px":3',
        '"halo":"nonblocking"': '"halo":"pigeon"',
        '"iterations":10': '"iterations":1e999',
    }.get(change, "")
    lines = (runs / "apps.jsonl").read_text(encoding="utf-8").splitlines()
    assert change in lines[1]
    (runs / "apps.jsonl").write_text(f"{lines[0]}\n{lines[1].replace(change, instead)}\n", encoding="utf-8")
    made = asked(run, "jacobi", "--size", "48", "--grid", "2x1x1", "--table", runs, "--machine", MACHINE)
    where = "apps.jsonl:2" if "1e999" in instead else "run 2 of"
    assert any(where in text and message in text for text in made["warnings"]), made["warnings"]
    assert made["compute_s"] == pytest.approx(48**3 / 2 * 2e-9)


def test_one_rank_takes_what_one_rank_took(run: Run, tmp_path: Path) -> None:
    """Runs on a full node are slower; they say nothing of a rank alone."""
    runs = folder_of_runs(tmp_path / "runs", [(1, 1, 1)])
    campaign = Campaign.open(runs)
    slow = campaign.apps()[0].model_copy(deep=True)
    slow.ranks, slow.nodes = 8, 1
    slow.parameters |= {"px": 8}
    campaign.append(answering(slow, compute_s=[10 * 48**3 / 8 * 6e-9] * 8, halo_B=[0] * 8))
    made = asked(run, "jacobi", "--size", "48", "--grid", "1x1x1", "--table", runs, "--machine", MACHINE)
    assert made["time_s"] == pytest.approx(48**3 * 2e-9)
    made = asked(run, "jacobi", "--size", "48", "--grid", "8x1x1", "--table", runs, "--machine", MACHINE)
    assert made["compute_s"] == pytest.approx(48**3 / 8 * 6e-9)


@pytest.mark.usefixtures("wide")
def test_runs_of_another_program_are_refused(run: Run, tmp_path: Path) -> None:
    runs = folder_of_runs(tmp_path / "runs", [(2, 1, 1)])
    code, _, err = run("cg", "--size", "48", "--grid", "2x1x1", "--table", runs, "--machine", MACHINE)
    assert code == 2
    assert "has no run of cg" in err
