"""A launcher is one file, its test and a heading of one page."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import OPENMPI_MACROS, Script
from tests.touches.conftest import Tree

LINE = """
import sys
from hockney.runner.find import find
from hockney.runner.launchers.base import LaunchRequest, command
print(*command(find(sys.argv[1], "flux"), LaunchRequest(4, ppn=2))[0][1:])
"""


@pytest.mark.thorough
def test_a_launcher_is_one_file_and_a_heading(tree: Tree, tmp_path: Path, script: Script) -> None:
    script(tmp_path / "bin" / "mpicc", OPENMPI_MACROS)
    script(tmp_path / "bin" / "flux", "commands: 0.66.0\nlibflux-core: 0.66.0")
    unknown = ("measure", "-o", tmp_path / "campaign", "--mpi", tmp_path, "--launcher", "flax")
    with tree.with_example("launcher") as touched:
        assert touched.added == [
            "src/hockney/runner/launchers/flux.py",
            "tests/runner/launchers/test_flux.py",
        ]
        assert touched.edited == ["docs/how-to/choose-an-mpi.md"]
        assert "flux, hydra" in tree.hockney("measure", "--help")
        assert "flux, hydra" in tree.json(*unknown, code=2)["error"]["hint"]
        line = tree.python("-c", LINE, str(tmp_path))
        assert line.stdout.strip() == (
            "run --ntasks=4 --cores-per-task=1 --tasks-per-node=2 --setopt=cpu-affinity=per-task"
        ), line.stderr
    assert "flux" not in tree.hockney("measure", "--help")
    assert "flux" not in tree.json(*unknown, code=2)["error"]["hint"]
