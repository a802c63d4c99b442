"""What a shell offers for the beginning of a word: verbs, and the words that an option knows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("hockney sch", ["schedule"]),
        ("hockney measure --operation allr", ["allreduce"]),
        ("hockney measure --operation bcast,allr", ["bcast,allreduce"]),
        ("hockney measure --mpi mp", ["mpich"]),
        ("hockney measure --map-by so", ["socket"]),
        ("hockney schedule draw allg", ["allgather"]),
        ("hockney predict bcast --algorithm scatter_", ["scatter_allgather", "scatter_allgather_ring"]),
    ],
)
def test_a_shell_offers_what_is_known(written: str, offered: list[str], tmp_path: Path) -> None:
    program = tmp_path / "hockney"
    program.write_text("from hockney.cli import main\nmain()\n", encoding="utf-8")
    asked = {"COMP_WORDS": written, "COMP_CWORD": str(len(written.split()) - 1)}
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "_HOCKNEY_COMPLETE": "complete_bash", **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == offered
