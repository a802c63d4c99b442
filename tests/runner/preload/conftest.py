"""The environment in which a user of an MPI types, as Intel's wheel needs variables; traces, recorded once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.runner.preload.programs import compiled, hockney, launch_line
from tests.runner.preload.traces import RankTrace, traces

from hockney.runner.mpi import Mpi


@pytest.fixture(autouse=True)
def environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of the MPI that a test runs on, if any."""
    if "mpi" not in request.fixturenames:
        return
    mpi: Mpi | None = request.getfixturevalue("mpi")
    for name, value in (mpi.environment if mpi else {}).items():
        monkeypatch.setenv(name, value)


RANKS = 3


def recorded(
    mpi: Mpi, folder: Path, part: str, *words: str, options: str = "", code: int | None = 0
) -> tuple[list[RankTrace], subprocess.CompletedProcess[str]]:
    """The traces of `traced.c`, and how it ended; skips without threads."""
    program = compiled(mpi, folder, "traced.c", "-g", "-Wno-stringop-overread")
    line = launch_line(mpi, RANKS, program, part, *words)
    done = hockney("profile", "-o", str(folder / "p.json"), *options.split(), "--", *line)
    if done.returncode == 77:
        pytest.skip("this library was built without MPI_THREAD_MULTIPLE")
    assert code is None or done.returncode == code, done.stdout + done.stderr
    found = traces(folder / "p.trace")
    for one in found:
        assert (one.version, one.ranks, one.counted) == (1, RANKS, len(one.events))
    return found, done


Kept = Callable[[str], tuple[list[RankTrace], Path]]
"""Of a part of `traced.c` the traces, and their profile."""


@pytest.fixture(scope="session")
def kept(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Recorded once for all tests that read them."""

    @cache
    def of_part(part: str) -> tuple[list[RankTrace], Path]:
        folder, options = tmp_path_factory.mktemp(part), "--clock cpu" if part == "polls" else ""
        return recorded(mpi, folder, part, options=options)[0], folder / "p.json"

    return of_part
