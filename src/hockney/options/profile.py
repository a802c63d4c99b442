"""Options of `hockney profile`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument, Option


class LaunchedProgram(BaseModel):
    """A program that the user launches, by its own launch line."""

    mpi: Annotated[
        str | None,
        Option("MPI of the program: openmpi, mpich, intel, a prefix or a wrapper. [default: the launcher's]"),
    ] = None
    command: Annotated[
        list[str], Argument("The launch line, after `--`.", metavar="MPIRUN … PROGRAM …", repeat=True)
    ]


class ProfileOptions(LaunchedProgram):
    """Which program is watched, and where the profile goes."""

    output: Annotated[Path, Option("File of the profile.", flags=("--output", "-o"))] = Path("profile.json")
