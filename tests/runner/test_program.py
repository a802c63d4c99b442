"""The executed schedule: a reduction of more elements than MPI counts at once is done in parts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.processes import captured

from hockney.runner.build import FLAGS, cxx_wrapper
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi

CPP = Path(__file__).parents[2] / "cpp"
SOURCES = [
    Path(__file__).parent / "collective" / "program.cpp",
    CPP / "runner" / "collective" / "program.cpp",
    CPP / "runner" / "buffers.cpp",
]


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program") / "program"
    argv = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, "-Werror", f"-I{CPP / 'runner'}", *map(str, SOURCES)]
    subprocess.run([*argv, "-o", str(made)], env=mpi.full_environment(), check=True)
    return made


# One call, two that are alike but for the last element, and one for each element.
@pytest.mark.one_mpi
@pytest.mark.parametrize("most", [2**30, 4, 3, 1])
def test_a_reduction_in_parts_adds_every_number_once(mpi: Mpi, program: Path, most: int) -> None:
    argv, environment = command(mpi, LaunchRequest(ranks=1))
    done = captured(
        [*argv, str(program), str(most)], env={**mpi.full_environment(), **environment}, timeout=60, check=True
    )
    assert done.stdout.split() == ["100", "101", "102", "103", "104", "105", "106", "107"]
