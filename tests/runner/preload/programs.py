"""Programs under the layer: how tests compile and launch them, and tables for them."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

import pytest
from tests.command_line import called

from hockney import _core
from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.records.profile import Profile, load
from hockney.runner.mpi import Mpi

HERE = Path(__file__).parent
LIMIT_S = 240.0
Done = subprocess.CompletedProcess[str]


COMPILED: dict[tuple[str, ...], Path] = {}
"""Programs of this folder that know nothing of the one they lie in: once for all tests."""


def compiled(mpi: Mpi, folder: Path, source: str, *words: str | Path) -> Path:
    """A program of this folder, or of this text, by the MPI's C wrapper."""
    key = (str(mpi.wrapper), source, *map(str, words))
    if key in COMPILED:
        return COMPILED[key]
    path = HERE / source
    if not source.endswith(".c"):
        path = folder / "program.c"
        path.write_text(source, encoding="utf-8")
    program = folder / path.stem
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type", "-pthread"]
    argv = [str(mpi.wrapper), *flags, str(path), *map(str, words), "-o", str(program)]
    subprocess.run(argv, check=True, env=mpi.full_environment())
    if source.endswith(".c") and "-shared" not in words and not any("/" in str(word) for word in words):
        COMPILED[key] = program
    return program


def mpi_program(*lines: str, before: str = "", code: str = "0") -> str:
    """A C program of these lines between MPI_Init and MPI_Finalize, which ends with that code."""
    head = f"#include <mpi.h>\n#include <stdio.h>\n#include <unistd.h>\n{before}"
    body = ["MPI_Init(&argc, &argv);", *lines, "MPI_Finalize();", f"return {code};"]
    return f"{head}int main(int argc, char** argv) {{\n  " + "\n  ".join(body) + "\n}\n"


def launch_line(mpi: Mpi, ranks: int, *words: str | Path) -> list[str]:
    """What a user would type."""
    argv = [str(mpi.launcher)]
    if mpi.kind == "openmpi":
        argv += ["--oversubscribe", "--bind-to", "none"]
        argv += ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [*argv, "-n", str(ranks), *map(str, words)]


def every_schedule(turn: int) -> PreloadTable:
    """A rule for each operation: its algorithms take turns, in every second turn in segments where they can."""
    of_each: dict[str, list[_core.Algorithm]] = defaultdict(list)
    for algorithm in _core.algorithms():
        of_each[algorithm.collective].append(algorithm)
    rules = []
    for operation, choice in of_each.items():
        chosen = choice[turn % len(choice)]
        segment_B = 96 if chosen.is_segmented and turn % 2 else 0
        rules.append(PreloadRule(operation=operation, algorithm=chosen.name, segment_bytes=segment_B))
    return PreloadTable(rules=rules)


TURNS = max(
    sum(one.collective == collective.name for one in _core.algorithms()) for collective in _core.collectives()
)


def apply_words(folder: Path, table: PreloadTable, *options: str) -> list[str]:
    """`apply --rules …` with that table in a file, up to `--`."""
    table.write(folder / "table.json")
    return ["apply", "--rules", str(folder / "table.json"), *options, "--"]


def under(
    mpi: Mpi,
    folder: Path,
    table: PreloadTable,
    ranks: int,
    *words: str | Path,
    code: int = 0,
    options: str = "",
    **settings: str,
) -> tuple[Any, Done]:
    """The answer of `apply` for a program that ends with this code, and how it ended; skips without threads."""
    line = launch_line(mpi, ranks, *words)
    done = hockney(
        *apply_words(folder, table, "--json", *options.split()),
        *line,
        **{f"HOCKNEY_PRELOAD_{name}": value for name, value in settings.items()},
    )
    if done.returncode == 77 != code:
        pytest.skip("this library was built without MPI_THREAD_MULTIPLE")
    assert done.returncode == code, done.stdout + done.stderr
    return answer(done.stdout), done


def watched(
    mpi: Mpi, folder: Path, ranks: int, *words: str | Path, code: int = 0, options: str = ""
) -> tuple[Profile, Done]:
    """The profile of such a program, and how it ended."""
    file = folder / "profile.json"
    done = hockney("profile", "-o", str(file), *options.split(), "--", *launch_line(mpi, ranks, *words))
    if done.returncode == 77 != code:
        pytest.skip("this library was built without MPI_THREAD_MULTIPLE")
    assert done.returncode == code, done.stdout + done.stderr
    return load(file), done


def answer(text: str) -> Any:
    """The object that a verb prints; what its program prints goes to stderr."""
    return json.loads(text)


def hockney(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`hockney …` in this process, as an interpreter costs a second; what its program writes is caught, too."""
    with (
        patch.dict(os.environ, {"COLUMNS": "400", **environment}),
        ends_after(LIMIT_S),
        tempfile.TemporaryFile("w+", encoding="utf-8", buffering=1) as out,
        tempfile.TemporaryFile("w+", encoding="utf-8", buffering=1) as err,
    ):
        with into(1, out), into(2, err), redirect_stdout(out), redirect_stderr(err), notes_into(err):
            code = called(*words)
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(["hockney", *words], code, out.read(), err.read())


@contextmanager
def into(descriptor: int, file: TextIO) -> Iterator[None]:
    """Within, what this process and its children write to the descriptor goes into the file."""
    before = os.dup(descriptor)
    os.dup2(file.fileno(), descriptor)
    try:
        yield
    finally:
        os.dup2(before, descriptor)
        os.close(before)


@contextmanager
def notes_into(file: TextIO) -> Iterator[None]:
    """Within, what is logged is written to the file, as without pytest, whose own handlers keep it from that."""
    handler = logging.StreamHandler(file)
    handler.setLevel(logging.WARNING)
    logging.getLogger("hockney").addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger("hockney").removeHandler(handler)


@contextmanager
def ends_after(limit_s: float) -> Iterator[None]:
    """TimeoutError in what lasts longer."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def skip_if_wrong_without(mpi: Mpi, done: subprocess.CompletedProcess[str], driver: Path, ranks: int) -> None:
    """Skips where the driver failed, and fails on as many ranks of the library alone.

    Seen with Intel MPI 2021.18, an allgather of a datatype in another order on 5 ranks, and with MPICH 4.0.2,
    whose reduce to rank 1 of 2 reads 12 kB at the address MPI_IN_PLACE.
    """
    if done.returncode == 0:
        return
    line = launch_line(mpi, ranks, driver)
    alone = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if "0 wrong on all" not in alone.stdout:
        pytest.skip(f"{mpi.describe()} gives wrong results without the layer too")
