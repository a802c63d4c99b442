"""Programs under the layer: how tests compile and launch them, and tables for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from hockney import _core
from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.runner.mpi import Mpi

HERE = Path(__file__).parent
LIMIT_S = 240.0


def compiled(mpi: Mpi, folder: Path, source: str, *words: str | Path) -> Path:
    """A program of this folder, or of this text, by the MPI's C wrapper."""
    path = HERE / source
    if not source.endswith(".c"):
        path = folder / "program.c"
        path.write_text(source, encoding="utf-8")
    program = folder / path.stem
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type", "-pthread"]
    argv = [str(mpi.wrapper), *flags, str(path), *map(str, words), "-o", str(program)]
    subprocess.run(argv, check=True, env=mpi.full_environment())
    return program


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


def answer(text: str) -> Any:
    """The object that a verb prints after what the program printed."""
    return json.loads(text[text.index("{\n") :])


def hockney(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`hockney …` as a process of its own: its program's output goes where its own does."""
    return subprocess.run(
        [sys.executable, "-m", "hockney", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


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
