"""Options of `hockney doctor` and `lab`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.units import parse_positive_rate, words


class DoctorOptions(BaseModel, defer_build=True):
    """Where the doctor looks, and how closely."""

    mpi: Annotated[
        str | None,
        Option("Look at this MPI only: auto, openmpi, mpich, intel, a prefix or a wrapper."),
    ] = None
    run: Annotated[bool, Option("Build the runner and start two ranks with each MPI, too.", flags=("--run",))] = (
        False
    )
    variants: Annotated[
        bool,
        Option(
            "Try each combination of a library's transports, and print those that start.",
            flags=("--transports",),
        ),
    ] = False
    hosts: Annotated[
        list[str], Option("Hosts between which --transports tries them, such as n1:1,n2:1.", read=words)
    ] = Field(default_factory=list)


class LabUpOptions(BaseModel, defer_build=True):
    """What the lab is made of."""

    hosts: Annotated[int, Option("Number of hosts, each with an address of its own.", flags=("--nodes",))] = 8
    link_B_per_s: Annotated[
        float | None,
        Option(
            "Rate of each host's link, such as 100Mbit/s. [default: as fast as the cores are]",
            flags=("--link",),
            read=parse_positive_rate,
        ),
    ] = None


class LabRunOptions(BaseModel, defer_build=True):
    """What is run, and where."""

    command: Annotated[
        list[str], Argument("What to run on the first host, after `--`.", metavar="COMMAND...", repeat=True)
    ] = Field(min_length=1)
