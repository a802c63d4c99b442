"""The sweeps of Jacobi with sanitizers, on memory that ends with the last double."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hockney.runner.build import FLAGS, cxx_wrapper
from hockney.runner.mpi import Mpi

ROOT = Path(__file__).parents[2]
RUNNER = ROOT / "cpp" / "runner"
SOURCES = [
    Path(__file__).with_name("jacobi_kernel.cpp"),
    RUNNER / "request.cpp",
    *sorted((RUNNER / "apps" / "jacobi").glob("kernel.cpp")),
    *sorted((RUNNER / "apps" / "jacobi").glob("rows.cpp")),
    RUNNER / "apps" / "halo" / "field.cpp",
    RUNNER / "apps" / "halo" / "grid.cpp",
]
SANITIZERS = ["-O1", "-g", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.mark.thorough
def test_kernels_agree_and_stay_inside_their_memory(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind == "smpi":
        return  # its wrapper renames main; the sources are the same
    program = tmp_path / "kernel"
    environment = {**os.environ, **mpi.environment}
    command = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, *SANITIZERS, f"-I{RUNNER}", *map(str, SOURCES)]
    subprocess.run([*command, "-o", str(program)], check=True, env=environment)
    done = subprocess.run([str(program)], check=False, capture_output=True, text=True, env=environment)
    assert (done.stdout, done.returncode) == ("same\n", 0), done.stderr
