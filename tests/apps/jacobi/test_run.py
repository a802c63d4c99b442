"""`hockney run jacobi`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import Run
from tests.factories import verb

from hockney.runner.mpi import Mpi

pytestmark = pytest.mark.one_mpi  # what verbs do with answers is the same; tests/runner/apps ask every MPI

run = verb("run", "jacobi")


def test_it_runs_scales_and_is_kept(run: Run, mpi: Mpi, tmp_path: Path) -> None:
    out = run.prints(
        *("--mpi", str(mpi.wrapper), "--size", "20x16x12", "--ranks", "1,2,4", "--exchange", "overlap"),
        *("--iterations", "3", "--repetitions", "2", "-o", "kept", "--json"),
    )
    answer = json.loads(out)
    assert answer["scaling"] == "strong"
    runs = answer["runs"]
    assert [one["ranks"] for one in runs] == [1, 2, 4]
    assert [len(one["answer"]["compute_s"]) for one in runs] == [1, 2, 4]
    assert len({one["answer"]["checksum"] for one in runs}) == 1, "the same bits on any number of ranks"
    for one in runs:
        rate = one["answer"]["mlups"]
        assert rate == pytest.approx(20 * 16 * 12 * 3 / one["time_s"] / 1e6, rel=1e-4)
    kept = [json.loads(line) for line in (tmp_path / "kept" / "apps.jsonl").read_text().splitlines()]
    assert [one["answer"]["checksum"] for one in kept] == [one["answer"]["checksum"] for one in runs]


def test_it_prints_the_bound_and_its_parts(run: Run, mpi: Mpi) -> None:
    out = run.prints(
        *("--mpi", str(mpi.wrapper), "--subdomain", "12", "--ranks", "2", "--iterations", "2"),
        *("--repetitions", "1"),
    )
    assert "12x12x24" in out
    assert "1x1x2" in out


def test_a_wrong_request_is_told_before_anything_is_launched(run: Run) -> None:
    code, out, err = run("--mpi", "/nowhere", "--size", "8", "--ranks", "2", "--grid", "3x1x1")
    assert (code, out) == (2, "")
    assert "3 processes, not 2" in " ".join(err.split())
    code, out, _ = run("--size", "1x1x1", "--ranks", "2", "--json")
    assert code == 2
    assert json.loads(out)["error"]["kind"] == "request"
