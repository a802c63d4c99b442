"""Collectives through the command line: on every MPI found, and on a simulated cluster."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.command_line import answer, campaign_answer, run_hockney
from tests.factories import written

from hockney import _core
from hockney.records import table
from hockney.records.folder import Campaign
from hockney.runner.mpi import Mpi

PLATFORM = Path(__file__).parents[2] / "machines" / "platforms" / "fat_tree_256.xml"
TINY = ["--budget", "0.02s", "--visits", "1"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_hockney(*arguments, "--json")


def measured(*arguments: str) -> Any:
    return campaign_answer(run("measure", *arguments))


def test_all_algorithms_in_one_launch_with_their_data_checked(mpi: Mpi, tmp_path: Path) -> None:
    campaign = tmp_path / "c"
    asked = ["--operation", "bcast,allreduce,barrier", "--ranks", "2", "--bytes", "8,16KiB"]
    words = [*TINY, *asked, "--algorithm", "default,ours", "--mpi", str(mpi.wrapper), "-o", str(campaign)]
    told = measured(*words)
    assert told["failures"] == []
    records = Campaign.open(campaign).records()
    assert {r.verified for r in records} == {True}
    assert len(Campaign.open(campaign).launches()) == 1
    ours = {
        (a.collective, a.name)
        for a in _core.algorithms()
        if a.is_offered and a.collective in ("bcast", "allreduce", "barrier")
    }
    assert {(r.operation, r.algorithm) for r in records} == ours | {(one, "default") for one, _ in ours}
    frame = table.load(campaign)
    wide = frame.pivot_table(index=["operation", "algorithm", "bytes"], columns="statistic", values="time_s")
    # A rank's own mean cannot exceed the completion by much: it is inside it, but mean and median differ.
    assert (wide["min_over_ranks"] <= wide["max_over_ranks"]).all()
    report = answer("report", str(campaign), "-o", str(tmp_path / "r.html"))
    assert Path(report["report"]).stat().st_size > 10_000


def test_library_algorithms_are_there_and_right(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind == "intel":
        pytest.skip("one launch for each algorithm: see the bench")
    asked = ["--operation", "bcast", "--ranks", "2", "--bytes", "4KiB", "--algorithm", "library"]
    done = run("measure", *TINY, *asked, "--mpi", str(mpi.wrapper), "-o", str(tmp_path / "c"))
    # 4: an algorithm of the library failed, and was recorded as such.
    assert done.returncode in (0, 4), done.stdout + done.stderr
    names = {r.algorithm for r in Campaign.open(tmp_path / "c").records() if r.verified}
    assert len(names) >= 4
    choices = {r.algorithm: r.selection for r in Campaign.open(tmp_path / "c").records()}
    # Components that do without messages are seen at work; for the others the library's word must do.
    within_a_node = {"sm:default", "xhc:default", "posix:release_gather"} & set(choices)
    assert {choices[name] for name in within_a_node} <= {"proved"}
    assert {choices[name] for name in choices if name.startswith(("tuned:", "mpir:"))} == {"unproved"}
    assert choices.get("default", "") == ""
    assert any(":" in name for name in names)


def test_an_unknown_algorithm_is_a_wrong_request(mpi: Mpi, tmp_path: Path) -> None:
    asked = ["--operation", "bcast", "--ranks", "2", "--algorithm", "binomail"]
    done = run("measure", *asked, "--mpi", str(mpi.wrapper), "-o", str(tmp_path / "c"))
    assert done.returncode == 2
    assert "did you mean 'binomial'" in json.loads(done.stdout)["error"]["hint"]
    assert list(tmp_path.iterdir()) == []


def test_a_pure_refusal_is_a_wrong_request_with_its_reason(mpi: Mpi, tmp_path: Path) -> None:
    asked = ["--operation", "allgather", "--algorithm", "neighbor_exchange", "--ranks", "3"]
    words = [*TINY, *asked, "--rank-counts", "3", "--bytes", "8", "--mpi", str(mpi.wrapper)]
    done = run("measure", *words, "-o", str(tmp_path / "c"))
    assert done.returncode == 2
    assert "needs an even number of ranks, not 3" in json.loads(done.stdout)["error"]["message"]


def test_time_that_is_over_before_the_first_point_is_said(mpi: Mpi, tmp_path: Path) -> None:
    asked = ["--operation", "bcast", "--ranks", "2", "--bytes", "8", "--time", "10ms", "--mpi", str(mpi.wrapper)]
    done = run("measure", *TINY, *asked, "-o", str(tmp_path / "c"))
    assert done.returncode == 4
    assert "its time (--time) was over" in json.loads(done.stdout)["error"]["message"]


@pytest.mark.one_mpi
def test_a_mistake_of_one_rank_alone_is_a_limitation_and_keeps_no_rank_waiting(mpi: Mpi, tmp_path: Path) -> None:
    """Proofs have few bytes: at 1 KiB the second rank divides by zero while the first waits for its message."""
    text = "if n > 500 and r == 1:\n    x = 1 // 0\nsend(nothing, 1 - r)\nreceive(nothing, 1 - r)\nwait()\n"
    both = "other = scratch(n)\nreceive(other, 1 - r)\nsend(input, 1 - r)\ncopy(input, output)\n"
    file = written(tmp_path / "divides.schedule", f"require(P == 2)\n{text}{both}reduce(other, output)\n")
    asked = ["--operation", "allreduce", "--algorithm", str(file), "--ranks", "2", "--bytes", "8,1KiB"]
    told = measured(*TINY, *asked, "--mpi", str(mpi.wrapper), "-o", str(tmp_path / "c"))
    assert [text.partition(": ")[2] for text in told["limitations"]] == [
        "divides.schedule, line 3: a division by zero (rank 1 of 2, 1024 B)"
    ]
    assert {record.bytes for record in Campaign.open(tmp_path / "c").records()} == {8}


def test_counts_beyond_an_int_are_a_limitation_of_the_library(mpi: Mpi, tmp_path: Path) -> None:
    asked = ["--operation", "allreduce", "--ranks", "2", "--bytes", "8,8GiB", "--mpi", str(mpi.wrapper)]
    told = measured(*TINY, *asked, "-o", str(tmp_path / "c"))
    assert [text.partition(": ")[2] for text in told["limitations"]] == [
        "MPI_allreduce counts elements with an int: 2147483648 are too many"
    ]
    assert {record.bytes for record in Campaign.open(tmp_path / "c").records()} == {8}


@pytest.mark.simulated
def test_a_simulated_fat_tree_follows_the_closed_forms(tmp_path: Path) -> None:
    """16 ranks under one leaf switch: every message takes the same time, two links and nothing shared."""
    asked = ["--operation", "pingpong,bcast,barrier", "--algorithm", "ours", "--rank-counts", "2,16"]
    where = ["--mpi", f"smpi:{PLATFORM}", "--ranks", "16", "--bytes", "8,64KiB"]
    told = measured(*asked, *where, "-o", str(tmp_path / "c"))
    assert told["failures"] == []
    assert any("simulated" in text for text in told["warnings"])
    frame = table.load(tmp_path / "c")
    times = simulated_us(frame, 16)
    one_us = times["pingpong", "default", 8]
    # Messages that follow one another. The simulator adds some ns for each call, hence 1 %.
    expected = {
        ("bcast", "binomial"): 4,
        ("bcast", "halving_tree"): 4,
        ("bcast", "circulant"): 4,
        ("bcast", "pipeline"): 15,
        ("barrier", "recursive_doubling"): 4,
        ("barrier", "dissemination"): 4,
        ("barrier", "double_ring"): 33,  # twice round, and the acknowledgement of the last message
        ("barrier", "tree"): 8,
    }
    for name, messages in expected.items():
        size_B = 0 if name[0] == "barrier" else 8
        assert times[(*name, size_B)] == pytest.approx(messages * one_us, rel=0.01), name
    # At 64 KiB bandwidth counts. A rank's sends overlap and share its link: all 15 of the linear broadcast take
    # one latency and 15 times the wire; on the longest path of the binomial one, 4, 3, 2 and 1 share it.
    one_us = times["pingpong", "default", 65536]
    wire_us = (times["bcast", "linear", 65536] - one_us) / 14
    assert wire_us == pytest.approx(65536 / 12.5e9 * 1e6, rel=0.1)  # the simulator's protocol takes 6 %
    assert times["bcast", "pipeline", 65536] == pytest.approx(15 * one_us, rel=0.01)
    assert times["bcast", "binomial", 65536] == pytest.approx(4 * one_us + (3 + 2 + 1) * wire_us, rel=0.01)


@pytest.mark.simulated
def test_256_simulated_ranks_follow_the_closed_forms_across_switches(tmp_path: Path) -> None:
    """16 ranks a leaf: distances 1 to 8 stay below a switch, 16 to 128 take four links, twice the latency."""
    asked = ["--operation", "pingpong,bcast,barrier", "--algorithm", "binomial,recursive_doubling"]
    where = ["--mpi", f"smpi:{PLATFORM}", "--ranks", "256", "--rank-counts", "256", "--bytes", "8"]
    told = measured(*asked, *where, "--budget", "0.1ms", "-o", str(tmp_path / "c"))
    assert told["failures"] == []
    times = simulated_us(table.load(tmp_path / "c"), 256)
    one_us = times["pingpong", "default", 8]
    for name in (("bcast", "binomial", 8), ("barrier", "recursive_doubling", 0)):
        assert times[name] == pytest.approx((4 + 4 * 2) * one_us, rel=0.01), name


def simulated_us(frame: pd.DataFrame, ranks: int) -> dict[tuple[str, str, int], float]:
    """Times of a ping-pong and of completions on so many ranks, by operation, algorithm and bytes."""
    chosen = frame[frame["statistic"].isin(["one_way", "completion"]) & (frame["ranks"] == ranks)]
    rows = zip(chosen["operation"], chosen["algorithm"], chosen["bytes"], chosen["time_s"] * 1e6, strict=True)
    return {(operation, algorithm, int(size)): float(time) for operation, algorithm, size, time in rows}


@pytest.mark.simulated
@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "none was given"),
        (["--mpi", "smpi:nowhere.xml"], "nowhere.xml does not exist"),
        (["--mpi", f"smpi:{PLATFORM}", "--ranks", "257"], "257 ranks"),
    ],
)
def test_a_simulation_without_its_cluster(words: list[str], what: str, tmp_path: Path) -> None:
    asked = ["--mpi", "smpi", "--operation", "bcast"]
    done = run(
        "measure", *asked, *(["--ranks", "2"] if "--ranks" not in words else []), *words, "-o", str(tmp_path)
    )
    assert done.returncode == 2
    assert what in json.loads(done.stdout)["error"]["message"]
