"""References lie between groups of samples, in every kind of answer, with what the kernel told meanwhile."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from tests.capabilities import needs_two_cpus
from tests.command_line import run_hockney

from hockney.runner.mpi import Mpi

POINTS = ("measure", "--ranks", "2", "--bytes", "8,64KiB", "--quick", "--visits", "1")


def answers(mpi: Mpi, folder: Path, *words: str) -> list[dict[str, Any]]:
    done = run_hockney(*words, "--mpi", str(mpi.wrapper), "-o", str(folder))
    # 4: the machine left its common level for longer than the verb waits.
    assert done.returncode in (0, 4), done.stdout + done.stderr
    kept = [json.loads(line) for name in ("records", "effects", "apps") for line in _lines(folder, name)]
    return [{**record, **record.get("answer", {})} for record in kept]


def _lines(folder: Path, name: str) -> list[str]:
    path = folder / f"{name}.jsonl"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    "words",
    [
        (*POINTS, "--operation", "pingpong,send_overhead"),
        (*POINTS, "--operation", "bcast", "--algorithm", "binomial"),
        ("measure", "--ranks", "2", "--operation", "matching,overlap", "--quick"),
        ("run", "ring", "--ranks", "2", "--iterations", "20", "--repetitions", "40"),
    ],
    ids=["pairs", "collectives", "effects", "applications"],
)
def test_every_group_of_samples_lies_between_two_references(
    mpi: Mpi, tmp_path: Path, words: tuple[str, ...]
) -> None:
    bracketed = [answer for answer in answers(mpi, tmp_path / "c", *words) if answer.get("reference_s")]
    assert bracketed
    if "pingpong,send_overhead" in words:
        assert any(answer.get("large_reference_s") for answer in bracketed)
    for answer in bracketed:
        begins, samples = answer["group_begins"], answer.get("samples") or answer.get("samples_s")
        samples = samples or answer["total_s"]
        assert len(answer["reference_s"]) == len(answer["reference_iqr_s"]) == len(begins) + 1 >= 2
        assert begins[0] == 0
        # Repetitions of a collective that started late count for nothing: their group may be empty.
        assert begins == sorted(begins)
        assert begins[-1] <= len(samples)
        # Light takes a nanosecond for a foot, and what takes a second hangs.
        assert all(1e-9 < time_s < 1 for time_s in answer["reference_s"])
        assert answer["references_took_s"] > sum(answer["reference_s"])
        # Large messages are timed between two ranks alone; ranks that are preempted may have no room for them.
        large_s = answer.get("large_reference_s", [])
        assert len(large_s) in ((0, len(answer["reference_s"])) if answer.get("pair") else (0,))
        if large_s:
            assert median(large_s) > median(answer["reference_s"])
        # Every system that MPI runs on counts switches.
        causes = answer["causes"]
        assert causes["involuntary_switches"] >= 0
        assert causes["span_s"] > answer["references_took_s"]
        assert causes["took_s"] > 0


def _spin() -> None:
    while True:
        pass


@pytest.mark.one_mpi
@needs_two_cpus
def test_a_busy_process_on_the_processor_of_a_rank_shows(mpi: Mpi, tmp_path: Path) -> None:
    words = (*POINTS, "--operation", "pingpong", "--bind-to", "core")
    answers(mpi, tmp_path / "where", *words)
    (launch,) = _lines(tmp_path / "where", "launches")
    bound = json.loads(launch)["ranks"][1]["affinity"]
    busy = [multiprocessing.get_context("fork").Process(target=_spin, daemon=True) for _ in bound]
    try:
        for process, processor in zip(busy, bound, strict=True):
            process.start()
            os.sched_setaffinity(process.pid or 0, {processor})
        disturbed = [answer["causes"] for answer in answers(mpi, tmp_path / "busy", *words)]
    finally:
        for process in busy:
            process.kill()
            process.join()
    span_s = sum(causes["span_s"] for causes in disturbed)
    # A scheduler divides a processor evenly, and a time slice is some milliseconds.
    assert sum(causes["involuntary_switches"] for causes in disturbed) / span_s > 10
    if Path("/proc/thread-self/schedstat").exists():
        assert sum(causes["waited_s"] for causes in disturbed) / span_s > 0.1
