"""`hockney run sum3d`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_hockney

from hockney.records.folder import Campaign
from hockney.runner.inventory import inventory
from hockney.runner.mpi import Mpi

pytestmark = pytest.mark.one_mpi  # what verbs do with answers is the same; tests/runner/apps ask every MPI

PLATFORM = Path(__file__).parents[3] / "machines" / "platforms" / "fat_tree_256.xml"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return run_hockney("run", "sum3d", *words)


def asked(*words: str) -> Any:
    done = run(*words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_run_is_checked_said_and_kept(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    words = ["7", "6", "5", "--ranks", "2", "--split", "blocks", "--repetitions", "6", "--iterations", "2"]
    made = asked(*words, "--mpi", str(mpi.wrapper), "-o", str(folder))
    (one,) = made["runs"]
    assert (one["operation"], one["ranks"], one["grid"]) == ("sum3d", 2, "2x1x1")
    assert one["answer"]["verified"] is True
    assert one["loads"] == ["P. 0: 120", "P. 1: 90"]
    assert (one["statistics"]["runs"], one["parameters"]["cycles"], one["parameters"]["seed"]) == (6, 2, 1)
    assert min(one["samples_s"]) <= one["statistics"]["mean_s"] <= max(one["samples_s"])
    assert sum(one["shares"].values()) == pytest.approx(1)
    (kept,) = Campaign.open(folder).apps()
    assert (kept.operation, kept.samples_s) == ("sum3d", one["samples_s"])


def test_text_says_loads_statistics_and_parts(mpi: Mpi) -> None:
    words = ["5", "5", "1", "--grid", "2x1x1", "--split", "cartesian", "--repetitions", "3"]
    done = run(*words, "--mpi", str(mpi.wrapper))
    assert done.returncode == 0, done.stderr
    assert "P. 0: 15\nP. 1: 10\n" in done.stdout
    assert "3 repetitions of 1 cycle: mean" in done.stdout
    assert "95 % interval" in done.stdout
    assert "with c = 1.96" in done.stdout
    assert "of the time of all ranks: scatter" in done.stdout


def test_a_sweep_visits_every_grid_once_a_round_and_says_whether_it_matters(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    words = ["--size", "6x5x4", "--size", "4x6x5", "--grid", "all", "--split", "balanced,cartesian"]
    made = asked(*words, "--ranks", "2", "--repetitions", "2", "--mpi", str(mpi.wrapper), "-o", str(folder))
    kept = Campaign.open(folder).apps()
    # Two sizes, three grids of two ranks (2x1x1, 1x2x1, 1x1x2), two splits.
    visits = [[run.parameters["round"] for run in kept[start : start + 12]] for start in range(0, 60, 12)]
    assert visits == [[number] * 12 for number in range(5)]
    orders = [[run.parameters[name] for run in kept[start : start + 12] for name in ("px", "py", "split", "nx")]
              for start in range(0, 60, 12)]  # fmt: skip
    assert orders[0] != orders[1]
    assert all(run.answer.verified for run in kept)
    assert {one["size"] for one in made["configurations"]} == {"6x5x4", "4x6x5"}
    assert all(len(one["values_s"]) == 5 for one in made["configurations"])
    # In the order of the first visits.
    assert sorted(test["what"] for test in made["tests"]) == [
        f"{size}, {split}" for size in ("4x6x5", "6x5x4") for split in ("balanced", "cartesian")
    ]
    assert all(test["method"].startswith("Friedman") and 0 <= test["p_value"] <= 1 for test in made["tests"])


def test_the_table_of_a_sweep_has_the_form_of_the_printed_ones(mpi: Mpi) -> None:
    done = run("--size", "5x5x1", "--ranks", "2", "--grid", "shapes", "--split", "balanced,cartesian",
               "--repetitions", "1", "--mpi", str(mpi.wrapper))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "5x5x1 (2, 1, 1) 0 P. 0: 13 P. 1: 12" in " ".join(done.stdout.split())
    assert "P. 0: 15 P. 1: 10" in " ".join(done.stdout.split())


@pytest.mark.simulated
def test_a_simulated_run_takes_what_its_memory_takes(tmp_path: Path) -> None:
    words = ["20", "20", "20", "--ranks", "12", "--split", "blocks", "--repetitions", "2"]
    smpi = ["--mpi", f"smpi:{PLATFORM}", "-o", str(tmp_path / "c")]
    (one,) = asked(*words, *smpi)["runs"]
    assert one["answer"]["verified"] is True
    assert one["grid"] == "3x2x2"
    # The largest of the blocks has 7 · 10 · 10 elements, 24 B each at 10 GB/s. A clock reading takes 10 ns.
    assert max(one["answer"]["compute_s"]) == pytest.approx(1.68e-6, abs=2e-8)


@pytest.mark.parametrize("split", ["cartesian", "blocks"])
def test_loads_are_said_without_an_mpi(split: str) -> None:
    # A printed table.
    words = ["1200", "200", "100", "--grid", "8x3x1", "--split", split, "--dry-run", "--mpi", "/nowhere"]
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "P. 0,1,3,4,6,7,9,10,12,13,15,16,18,19,21,22: 1005000",
        "P. 2,5,8,11,14,17,20,23: 990000",
    ]
    made = asked(*words)
    assert (made["loads"], sum(made["elements"])) == (done.stdout.splitlines(), 24_000_000)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["0", "5", "5", "--ranks", "2"], "has no elements"),
        (["5", "5", "--ranks", "2"], "needs nx ny nz"),
        (["5", "5", "5", "--size", "5x5x5", "--ranks", "2"], "say the same"),
        (["--size", "5x5", "--ranks", "2"], "not a size"),
        (["5", "5", "5", "--ranks", "2", "--grid", "shapes,2x1x1"], "one grid of each shape"),
        (["1", "1", "1", "--ranks", "2", "--grid", "all", "--split", "cartesian"], "no grid of 2 processes fits"),
        (["5", "5", "five", "--ranks", "2"], "valid integer"),
        (["--ranks", "2", "--", "5", "5", "-5"], "has no elements"),
        (["65536", "65536", "1", "--ranks", "2"], "more elements than MPI counts"),
        (["5", "5", "5", "--ranks", "2", "--grid", "3x1x1"], "3 processes, not 2"),
        (["5", "5", "5", "--grid", "2x1x1,4x1x1"], "grids of 2 and 4 processes do not fit one launch"),
        (["5", "5", "5", "--grid", "3x"], "not a process grid"),
        (["1", "1", "1", "--ranks", "2"], "no grid of 2 processes fits"),
        (["1", "1", "1", "--grid", "2x1x1"], "would get nothing"),
        (["5", "5", "5", "--ranks", "2", "--split", "rows"], "unknown --split"),
        (["5", "5", "5", "--ranks", "2", "--iterations", "0"], "--iterations"),
    ],
)
def test_wrong_requests_launch_nothing(words: list[str], what: str, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    done = run("--json", "--mpi", "/nowhere", "-o", str(folder), *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert what in json.loads(done.stdout)["error"]["message"]
    assert not folder.exists()


def test_memory_is_asked_for_before_it_is_taken(mpi: Mpi) -> None:
    # The most that MPI counts: six times 17 GB in all.
    side = 1290
    if (inventory().memory_B or 0) > 6 * 8 * side**3:
        pytest.skip("all of it may fit into this machine's memory")
    done = run(*[str(side)] * 3, "--ranks", "2", "--mpi", str(mpi.wrapper), "--json")
    assert done.returncode == 3, done.stdout + done.stderr
    error = json.loads(done.stdout)["error"]
    assert "memory is free" in error["message"]
