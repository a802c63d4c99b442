"""Collectives that a machine file has measured times of: a run of one takes what `predict` says of it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests import command_line
from tests.factories import campaign, collective, messages
from tests.predict.replay.encoding import traces, write

from hockney.machine.build import build
from hockney.machine.file import save
from hockney.predict.options import ProfileCase
from hockney.predict.replay.answer import replay_cases
from hockney.predict.replay.gains import gains

RANKS, SIZE_B = 4, 4096
TIMES_S = {"default": 50e-6, "ring": 80e-6, "recursive_doubling": 20e-6}
"""Of an allreduce; a message of 4 KiB takes 6 us."""

predict = partial(command_line.answer, "predict")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    timed = [
        collective(
            size_B,
            time_s * (size_B / SIZE_B) ** 0.5,
            operation="allreduce",
            algorithm=name,
            ranks=RANKS,
            within=0.1,
        )
        for name, time_s in TIMES_S.items()
        for size_B in (1024, SIZE_B, 16384)
    ]
    folder = campaign(tmp_path / "campaign", [*messages(locality="package", pair="0-1", within=0.05), *timed])
    path = tmp_path / "machine.json"
    save(build(folder), path)
    return path


def run(folder: Path, operation: str = "allreduce", late_s: float = 0.0) -> Path:
    ranks = traces(RANKS)
    ranks[2].compute(late_s)
    for one in ranks:
        one.collective(operation, SIZE_B, element_B=4)
    return write(folder / "run.trace", ranks)


@pytest.mark.parametrize("algorithm", list(TIMES_S))
def test_a_run_of_a_collective_takes_what_predict_says_of_it(
    machine: Path, tmp_path: Path, algorithm: str
) -> None:
    words = () if algorithm == "default" else ("--algorithm", f"allreduce={algorithm}")
    said = predict(run(tmp_path), "--machine", machine, *words)
    asked = ("--ranks", str(RANKS), "--bytes", str(SIZE_B), "--algorithm", algorithm)
    (row,) = predict("allreduce", "--machine", machine, *asked)["predictions"][0]["algorithms"]
    assert row["time_s"] == pytest.approx(TIMES_S[algorithm], rel=0.15)
    assert said["run_s"] == pytest.approx(row["time_s"])
    assert said["interval"] == pytest.approx({"low_s": row["low_s"], "high_s": row["high_s"]})
    assert sum(said["critical_path"].values()) == pytest.approx(said["run_s"])
    assert "schedules are corrected to measured times: allreduce" in said["warnings"]


def test_a_program_sends_what_it_has_just_written(tmp_path: Path) -> None:
    """Its calls take longer by that, those too that are corrected to times of what nobody wrote."""
    timed = collective(SIZE_B, 50e-6, operation="allreduce", algorithm="recursive_doubling", ranks=RANKS)
    pair: dict[str, Any] = {"locality": "package", "pair": "0-1", "within": 0.02, "most_B": 2**14}
    path, asked = run(tmp_path), ("--algorithm", "allreduce=recursive_doubling")
    run_s: dict[tuple[bool, bool], float] = {}
    for is_written in (False, True):
        for is_timed in (False, True):
            written = messages(rate_B_per_s=0.25e9, operation="pingpong_written", **pair) * is_written
            folder = campaign(
                tmp_path / f"{is_written}{is_timed}", [*messages(**pair), *written, *[timed] * is_timed]
            )
            save(build(folder), machine := folder / "machine.json")
            run_s[is_written, is_timed] = predict(path, "--machine", machine, *asked)["run_s"]
    # Two rounds of a message each.
    assert run_s[True, False] - run_s[False, False] == pytest.approx(2 * 3 * SIZE_B / 1e9, rel=0.1)
    assert run_s[False, True] == pytest.approx(50e-6)
    assert run_s[True, True] / 50e-6 == pytest.approx(run_s[True, False] / run_s[False, False], rel=0.01)


def test_a_late_rank_is_waited_for(machine: Path, tmp_path: Path) -> None:
    """A rank that comes when all is long ready has its own part left: one of two rounds at least."""
    path = run(tmp_path, late_s=1e-3)
    asked = ("--machine", machine, "--algorithm", "allreduce=recursive_doubling")
    assert 1e-3 + 0.5 * 20e-6 <= predict(path, *asked)["run_s"] <= 1e-3 + 1.15 * 20e-6


def test_an_added_latency_counts_once_a_message(machine: Path, tmp_path: Path) -> None:
    """Recursive doubling on four ranks has two messages one after the other."""
    path, words = run(tmp_path), ("--algorithm", "allreduce=recursive_doubling")
    said = predict(path, "--machine", machine, *words)
    (row,) = said["tolerance"]
    assert row["per_latency"] == 2
    assert row["latency_curve"][0][1] == pytest.approx(said["run_s"])
    assert row["latency_limits"][0]["added_latency_s"] == pytest.approx(0.01 * said["run_s"] / 2)


@pytest.mark.parametrize("elsewhere", ["two localities", "network"])
def test_times_of_ranks_that_may_be_elsewhere_correct_nothing(
    machine: Path, tmp_path: Path, elsewhere: str
) -> None:
    words = ["--network", "100us,10MB/s"] if elsewhere == "network" else []
    if not words:
        data: dict[str, Any] = json.loads(machine.read_text(encoding="utf-8"))
        data["point_to_point"] += [{**data["point_to_point"][0], "locality": "network"}]
        machine.write_text(json.dumps(data), encoding="utf-8")
    said = predict(run(tmp_path), "--machine", machine, *words)
    assert "measured times of allreduce correct nothing: they may be of ranks elsewhere" in said["warnings"]


def test_a_measured_default_makes_no_other_algorithm_a_gain(machine: Path, tmp_path: Path) -> None:
    """Without its measured time recursive doubling, the default here, is as fast as any."""
    case = ProfileCase(file=run(tmp_path), machine=[machine])
    ((replayed, _),) = replay_cases(case, lambda *_: lambda *_: None)
    assert [gain.what for gain in gains(replayed) if gain.kind == "algorithm"] == []


def test_what_was_not_measured_is_played_as_it_is(machine: Path, tmp_path: Path) -> None:
    said = predict(run(tmp_path, "alltoall"), "--machine", machine, "--algorithm", "alltoall=linear")
    assert not any("corrected" in text for text in said["warnings"])


def test_another_librarys_default_corrects_nothing(machine: Path, tmp_path: Path) -> None:
    data: dict[str, Any] = json.loads(machine.read_text(encoding="utf-8"))
    data["mpi"] = [{"name": "MPICH 4.2.1"}]
    machine.write_text(json.dumps(data), encoding="utf-8")
    said = predict(run(tmp_path), "--machine", machine)
    assert not any("corrected" in text for text in said["warnings"])
