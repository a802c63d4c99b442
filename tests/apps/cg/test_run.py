"""`hockney run cg` through the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run_hockney

from hockney.runner.mpi import Mpi

pytestmark = pytest.mark.one_mpi  # what verbs do with answers is the same; tests/runner/apps ask every MPI

PLATFORM = Path(__file__).parents[3] / "machines" / "platforms" / "fat_tree_256.xml"


def hockney(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_hockney("run", "cg", *arguments)


def where(mpi: Mpi) -> list[str]:
    return ["--mpi", f"{mpi.wrapper}:{PLATFORM}" if mpi.kind == "smpi" else str(mpi.wrapper)]


def test_a_study_and_its_files(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    study = ["--size", "16x12", "--ranks", "1,2", "--grid", "all", "--repetitions", "1"]
    done = hockney(*study, *where(mpi), "-o", str(folder), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [(run["parameters"]["px"], run["parameters"]["py"]) for run in runs] == [(1, 1), (2, 1), (1, 2)]
    assert len({run["answer"]["iterations"] for run in runs}) == 1
    assert len((folder / "apps.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    if mpi.kind == "smpi":
        return
    solution = tmp_path / "u of x.dat"
    one = ["--size", "16x12", "--ranks", "2", "--repetitions", "1", "--tolerance", "1e-10"]
    done = hockney(*one, *where(mpi), "--solution", str(solution))
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((tmp_path / "u of x.dat.json").read_text(encoding="utf-8"))
    assert told["converged"] is True
    assert told["verified"] is True
    values = np.fromfile(solution).reshape(told["shape"])
    assert values.shape == (1, 12, 16)
    h = 1 / 17
    x, y = h * np.arange(1, 17), h * np.arange(1, 13)
    exact = (y * (13 * h - y) * np.exp(y))[:, None] * (x * (1 - x) * np.exp(x))[None, :]
    # The discretisation's error, h²/12 times fourth derivatives of about 20 times u.
    assert np.abs(values[0] - exact).max() < 20 / 12 * h**2 * exact.max()


def test_a_wrong_residual_is_told_and_ends_with_1(mpi: Mpi) -> None:
    # As in tests/runner/apps/test_cg.py: rounding grows where nothing replaces the residual.
    words = ["--size", "100x100", "--ranks", "1", "--repetitions", "1", "--iterations", "1000"]
    words += ["--formulation", "pipelined,joint", "--replace-every", "0", *where(mpi), "--json"]
    done = hockney(*words)
    assert done.returncode == 1
    runs = json.loads(done.stdout)["runs"]
    assert [run["answer"]["verified"] for run in runs] == [False, True]
    assert done.stderr.count("wrong:") == 1


def test_simulated_time_is_what_was_said(mpi: Mpi) -> None:
    if mpi.kind != "smpi":
        pytest.skip("only a simulated cluster takes times")
    words = ["--size", "64x64x64", "--ranks", "8", "--no-compute", "--iterations", "20", "--replace-every", "0"]
    done = hockney(*words, *where(mpi), "--cell-time", "1us", "--repetitions", "1", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    # 32³ unknowns of a rank take 32.8 ms; beside them the messages' microseconds, and two sweeps at the ends.
    assert run["answer"]["iteration_s"] == pytest.approx(32**3 * 1e-6, rel=0.05)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--size", "16x16", "--solution", "no/where/u.dat"], "cannot write"),
        (["--size", "16x16", "--solution", "/"], "cannot write"),
        (["--size", "16x16", "--solution", "u", "--variant", "a:", "--variant", "b:"], "same file"),
    ],
)
def test_bad_requests_end_before_any_launch(words: list[str], text: str) -> None:
    done = hockney(*words, "--mpi", "nowhere", "--json")
    assert done.returncode == 2
    assert text in json.loads(done.stdout)["error"]["message"] + json.loads(done.stdout)["error"]["hint"]
    assert "Traceback" not in done.stderr
