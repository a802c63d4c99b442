"""`hockney run ring`, as a user runs it."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_hockney

from hockney.records.folder import Campaign
from hockney.runner.mpi import Mpi

pytestmark = pytest.mark.one_mpi  # what verbs do with answers is the same; tests/runner/apps ask every MPI

PLATFORM = Path(__file__).parents[3] / "machines" / "platforms" / "fat_tree_256.xml"
QUICK = ("--iterations", "3")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return run_hockney("run", "ring", *words)


def asked(*words: str) -> Any:
    done = run(*words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_what_cannot_be_launched_leaves_no_folder(tmp_path: Path) -> None:
    done = run("--ranks", "2", "--mpi", str(tmp_path / "nowhere"), "-o", str(tmp_path / "c"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert not (tmp_path / "c").exists()


def test_a_run_is_checked_written_and_kept(mpi: Mpi, tmp_path: Path) -> None:
    folder, table, figure = (tmp_path / name for name in ("c", "ring.csv", "ring.svg"))
    made = asked(
        "--ranks", "1-2", *QUICK, "--repetitions", "6", "--exchange", "sendrecv,persistent",
        "--mpi", str(mpi.wrapper), "-o", str(folder), "--csv", str(table), "--figure", str(figure),
    )  # fmt: skip
    assert [(one["ranks"], one["parameters"]["exchange"]) for one in made["runs"]] == [
        (1, "sendrecv"), (2, "sendrecv"), (1, "persistent"), (2, "persistent"),
    ]  # fmt: skip
    assert all(one["answer"]["verified"] and len(one["samples_s"]) == 6 for one in made["runs"])
    kept = Campaign.open(folder).apps()
    # In the order in which they ran: ways that are compared next to each other.
    assert [(one.ranks, one.parameters["exchange"]) for one in kept] == [
        (1, "sendrecv"), (1, "persistent"), (2, "sendrecv"), (2, "persistent"),
    ]  # fmt: skip
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [(row["rank"], row["P"], row["N"], row["exchange"]) for row in rows] == [
        ("0", "1", "18", "sendrecv"), ("0", "2", "18", "sendrecv"), ("1", "2", "18", "sendrecv"),
        ("0", "1", "18", "persistent"), ("0", "2", "18", "persistent"), ("1", "2", "18", "persistent"),
    ]  # fmt: skip
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert (made["csv"], made["figure"]) == (str(table), str(figure))
    assert [one["exchange"] for one in made["curves"]] == ["sendrecv", "persistent"]


def test_the_lines_of_processes(mpi: Mpi) -> None:
    done = run("--ranks", "2", *QUICK, "--format", "messages", "--mpi", str(mpi.wrapper))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    for rank in range(2):
        final = f"My final messages have tags {10 * rank}, {10 * rank}; values -1, 1"
        assert lines[2 * rank] == f"I am process {rank} and I have received 4 messages. {final}"
        walltime = rf"# walltime on processor {rank} after 3 iterations \d\.\d{{8}}\. Average: \d\.\d{{8}}"
        assert re.fullmatch(walltime, lines[2 * rank + 1])
    done = run("--ranks", "2", *QUICK, "--format", "hops", "--mpi", str(mpi.wrapper))
    assert done.stdout.splitlines() == [
        f"I am process {rank} and I have received 2 messages. "
        f"My final messages have tag {10 * rank} and value msg-left -1, msg-right 1"
        for rank in range(2)
    ]


@pytest.mark.simulated
def test_a_simulated_ring_breaks_where_a_further_switch_begins(tmp_path: Path) -> None:
    smpi = ("--mpi", f"smpi:{PLATFORM}", "--figure", str(tmp_path / "ring.png"))
    made = asked("--ranks", "12-22", *smpi)
    (curve,) = made["curves"]
    times_s = {run["ranks"]: run["time_s"] for run in made["runs"]}
    # 16 hosts are below a leaf: within it a message passes two links of 1 µs, beyond it four. Clock readings of
    # 10 ns are all that a cycle has besides, whatever the latency is multiplied with.
    within_s, beyond_s = (
        {ranks: times_s[ranks] / ranks for ranks in part} for part in (range(12, 17), range(17, 23))
    )
    assert list(within_s.values()) == pytest.approx([within_s[12]] * 5, rel=1e-3)
    assert list(beyond_s.values()) == pytest.approx([2 * within_s[12]] * 6, rel=1e-2)
    assert [(one["first"], one["last"]) for one in curve["segments"]] == [(12, 16), (17, 22)]
    assert (tmp_path / "ring.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--ranks", "0"], "0 is none of 1 to"),
        (["--ranks", "two"], "is not understood"),
        (["--ranks", "2", "--exchange", "smoke"], "unknown --exchange 'smoke'"),
        (["--ranks", "2", "--exchange", ","], "--exchange: ',' names nothing"),
        (["--ranks", "2", "--communicator", "torus"], "unknown --communicator 'torus'"),
        (["--ranks", "2", "--iterations", "0"], "--iterations"),
        (["--ranks", "2", "--format", "guess"], "unknown --format 'guess'"),
        (["--ranks", "2", "--figure", "ring.jpeg"], "cannot draw a figure as 'ring.jpeg'"),
        (["--ranks", "2", "--figure", "/nowhere/ring.svg"], "cannot write /nowhere/ring.svg"),
        (["--ranks", "2", "--csv", "/nowhere/ring.csv"], "cannot write /nowhere/ring.csv"),
        (["--ranks", "2", "--csv", "/"], "cannot write /"),
    ],
)
def test_wrong_requests_launch_nothing(words: list[str], what: str, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    # An MPI that does not exist: whoever looks for it has come too far.
    done = run("--json", "--mpi", "/nowhere", "-o", str(folder), *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert what in json.loads(done.stdout)["error"]["message"]
    assert not folder.exists()
