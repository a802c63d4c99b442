"""Options of `hockney doctor` and `lab`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.units import parse_positive_rate
from hockney.words import words


class DoctorOptions(BaseModel):
    """Where the doctor looks, and how closely."""

    mpi: Annotated[
        str | None,
        Option("Look at this one only: auto, openmpi, mpich, intel, a prefix or a wrapper."),
    ] = None
    run: Annotated[bool, Option("Also build the runner and start two ranks with each MPI.", flags=("--run",))] = (
        False
    )
    variants: Annotated[
        bool,
        Option(
            "Also try each combination of a library's transports, and print those that start as --variant lines.",
            flags=("--transports",),
        ),
    ] = False
    hosts: Annotated[list[str], Option("With --transports: those are tried between two of them.", read=words)] = (
        Field(default_factory=list)
    )


class LabName(BaseModel):
    """Which lab."""

    name: Annotated[str, Option("Name of the lab: several may be up.")] = "lab"


class LabUpOptions(LabName):
    """What the lab is made of."""

    hosts: Annotated[int, Option("Each is a host with an address of its own.", flags=("--nodes",))] = 8
    link_B_per_s: Annotated[
        float | None,
        Option(
            "Of each host. [default: as fast as the cores are]",
            flags=("--link",),
            read=parse_positive_rate,
        ),
    ] = None


class LabRunOptions(LabName):
    """What is run, and where."""

    command: Annotated[
        list[str], Argument("What to run on the first host, after `--`.", metavar="COMMAND...", repeat=True)
    ] = Field(min_length=1)
