"""Options of `hockney profile`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel

from hockney.fields import Argument, Option
from hockney.units import format_bytes, parse_bytes


class LaunchedProgram(BaseModel, defer_build=True):
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
    trace_limit: Annotated[
        int,
        Option(
            "Bytes of the events that all ranks keep beside it, 0 for none.",
            metavar="SIZE",
            read=parse_bytes,
            show=format_bytes,
        ),
    ] = 2**30
    clock: Annotated[
        Literal["cpu", "wall"] | None,
        Option("How computing is timed. [default: cpu where ranks share cores]"),
    ] = None
