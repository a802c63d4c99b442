"""`hockney run pinning`: plans without any MPI, refusals before a launch, and a wish that is checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.capabilities import needs_two_cpus
from tests.command_line import run_hockney

from hockney.runner.mpi import Mpi

NODE = ["--node", "2 packages x 4 cores x 2 threads"]


def _run(*words: str, rc: int = 0) -> str:
    done = run_hockney("run", "pinning", *words)
    assert done.returncode == rc, done.stderr + done.stdout
    return done.stdout


def test_plan_without_an_mpi(tmp_path: Path) -> None:
    figure = tmp_path / "node.svg"
    words = ["--ranks", "4", "--threads", "2", "--spread", "socket", "--dry-run", *NODE]
    data = json.loads(_run(*words, "--figure", str(figure), "--json"))
    assert [one["threads"] for one in data["plan"]["ranks"]] == [
        [[0, 1], [2, 3]],
        [[8, 9], [10, 11]],
        [[4, 5], [6, 7]],
        [[12, 13], [14, 15]],
    ]
    assert {one["launcher"] for one in data["recipes"]} == {"openmpi4", "openmpi5", "mpich", "intel", "srun"}
    assert figure.read_bytes().lstrip().startswith(b"<?xml")
    text = _run(*words)
    assert "--map-by package:PE=2" in text
    assert "8:1.0 9:1.0 10:1.1 11:1.1 12:3.0" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dry-run"], "none is named"),
        (["--spread", "core", *NODE], "--node is for plans"),
        (["--spread", "core", "--map-by", "socket"], "says where ranks go"),
        (["--spread", "moon", "--dry-run"], "unknown spread"),
        (["--spread", "core", "--dry-run", "--figure", "x.pdf"], "cannot draw"),
        (["--spread", "core", "--dry-run", "--node", "7 moons"], "no number of known parts"),
        (["--spread", "core", "--dry-run", "--ranks", "9", "--threads", "1", *NODE], "there are 8"),
        (["--ranks", "0"], "'--ranks'"),
    ],
)
def test_refusals(words: list[str], message: str) -> None:
    error = json.loads(_run(*words, "--json", rc=2))["error"]
    assert error["kind"] == "request"
    assert message in error["message"]


@needs_two_cpus
def test_a_wish_is_checked(mpi: Mpi, tmp_path: Path) -> None:
    kind = ["--mpi", str(mpi.wrapper)]
    out = tmp_path / "out"
    data = json.loads(_run(*kind, "--ranks", "1", "--threads", "2", "--spread", "core", "-o", str(out), "--json"))
    assert data["as_wished"] is True
    (made,) = data["runs"]
    planned = data["plan"]["ranks"][0]["threads"]
    assert [one["cpu"] in place for one, place in zip(made["threads"], planned, strict=True)] == [True, True]
    assert (out / "apps.jsonl").read_text(encoding="utf-8").count("\n") == 1
    # A variant that overrides the threads: the wish is not fulfilled.
    wrong = ["--variant", "wrong: OMP_NUM_THREADS=1"]
    data = json.loads(_run(*kind, "--ranks", "1", "--threads", "2", "--spread", "core", *wrong, "--json", rc=1))
    assert data["as_wished"] is False
    assert "rank 0 has 1 threads, wished for 2" in [one["text"] for one in data["runs"][0]["findings"]]
