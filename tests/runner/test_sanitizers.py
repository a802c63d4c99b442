"""All that the runner does with address and undefined-behaviour sanitizers: `make sanitize`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.capabilities import lacking
from tests.command_line import campaign_answer, run_hockney

from hockney.records.answers import Timed
from hockney.runner import build
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session

pytestmark = pytest.mark.skipif(
    not os.environ.get("HOCKNEY_SANITIZE"),
    reason=lacking("sanitizers of the runner", "HOCKNEY_SANITIZE is not set (make sanitize)"),
)
FLAGS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LIMIT_S = 120.0
TINY = ("--budget", "0.02s", "--json")
REPEATED = {"repetitions": 2, "least_samples": 6, "budget_s": 1, "tolerance": 0.01}
BOX = {"nx": 17, "ny": 13, "nz": 11, "px": 1, "py": 2, "pz": 1}
JACOBI = {"iterations": 3, "threads": 1, "stores": "auto", "block_rows": 0, "bound": 1, "compute": 1, "cell_s": 0}
CG = {
    "dimensions": 3, "faces": "packed", "eps": 1e-6, "iterations": 50, "replace_every": 7, "threads": 1,
    "cell_s": 0, "compute": 1, "stream": 1, "file": "",
}  # fmt: skip


@pytest.fixture
def sanitized(mpi: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Mpi:
    """An MPI whose runner is built with sanitizers, once for all tests here."""
    if mpi.kind == "smpi":
        pytest.skip("SimGrid's stacks are not those that the sanitizer knows")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path_factory.getbasetemp() / "sanitized"))
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, *FLAGS))
    # A unit takes ten times as long to compile with them, and the cores are not always free.
    monkeypatch.setattr(build, "COMPILE_LIMIT_S", 10 * build.COMPILE_LIMIT_S)
    # What the library keeps until the end is no fault of ours.
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    return mpi


def measured(mpi: Mpi, folder: Path, *words: str) -> Any:
    """What a campaign says at its end; a runner that was stopped by a sanitizer is one of its failures."""
    done = run_hockney("measure", "--mpi", str(mpi.wrapper), "-o", str(folder), *TINY, *words)
    answer = campaign_answer(done)
    assert answer["measured"] > 0
    return answer


def test_messages_between_two_ranks(sanitized: Mpi, tmp_path: Path) -> None:
    sizes = "0,1,7,8,100,4KiB,70000,1MiB"
    words = ["--ranks", "2", "--bytes", sizes, "--off-cache", "--visits", "1"]
    assert measured(sanitized, tmp_path / "c", *words)["failures"] == []


@pytest.mark.parametrize("ranks", ["4", "5"])
def test_collectives(sanitized: Mpi, tmp_path: Path, ranks: str) -> None:
    """All algorithms, ours and the library's, on all and on fewer ranks, of parts that are not even."""
    words = [
        "--operation",
        "collectives",
        "--algorithm",
        "all",
        "--segment",
        "none,24",
        "--visits",
        "1",
    ]
    answer = measured(
        sanitized, tmp_path / "c", *words, "--ranks", ranks, "--bytes", "0,8,1000", "--rank-counts", f"3,{ranks}"
    )
    assert answer["failures"] == []


def test_effects(sanitized: Mpi, tmp_path: Path) -> None:
    answer = measured(sanitized, tmp_path / "c", "--operation", "effects", "--ranks", "2", "--largest", "256KiB")
    assert answer["failures"] == []


def test_applications(sanitized: Mpi) -> None:
    argv, added = command(sanitized, LaunchRequest(ranks=2))
    program = build.runner_binary(sanitized)
    with Session([*argv, str(program)], {**sanitized.environment, **added}, LIMIT_S) as session:

        def run(operation: str, **parameters: object) -> None:
            answer = session.app(LIMIT_S, Timed, operation=operation, ranks=2, **BOX, **parameters, **REPEATED)
            assert answer.samples_s

        for halo in ("sendrecv", "nonblocking", "overlap", "persistent", "neighborhood"):
            for faces in ("datatype", "packed"):
                for words in ("auto", "portable"):
                    run("jacobi", halo=halo, faces=faces, instructions=words, **JACOBI)
        for variant in ("reference", "fused", "joint", "single_sweep", "pipelined"):
            for halo in ("nonblocking", "overlap"):
                for stores in ("auto", "plain"):
                    run("cg", variant=variant, halo=halo, stores=stores, **CG)
