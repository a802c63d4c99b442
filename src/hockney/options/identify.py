"""Options of `hockney identify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.records.keys import COLLECTIVES
from hockney.runner.mpi import KINDS
from hockney.units import parse_bytes, whole, words

WATCH = "Watching"
"""Heading of options."""


class IdentifyOptions(BaseModel, defer_build=True):
    """Whose default is asked for, and how it may be found."""

    source: Annotated[
        Path | None,
        Argument(
            "Campaign folder, tidy table or machine file, or nothing with --watch.",
            metavar="CAMPAIGN|TABLE|MACHINE",
        ),
    ] = None
    operations: Annotated[
        list[str],
        Option(
            "Collectives, such as bcast,allreduce. [default: all that have a default]",
            flags=("--operation",),
            read=str,
            repeat=True,
            commas=True,
            known=lambda: tuple(COLLECTIVES),
        ),
    ] = Field(default_factory=list)
    by: Annotated[
        Literal["any", "version", "watching", "times"],
        Option(
            "Evidence: the library's version, what --watch has stored, or times alone.",
            flags=("--evidence",),
        ),
    ] = "any"
    system: Annotated[str, Option("System of the ranks: a known name, or a JSON file.")] = ""
    machine: Annotated[
        Path | None, Option("Machine file for algorithms that were not measured. [default: the campaign's]")
    ] = None
    ranks: Annotated[
        list[int],
        Option("Numbers of ranks, for a machine file or to watch.", read=whole, repeat=True, commas=True),
    ] = Field(default_factory=list)
    nodes: Annotated[int | None, Option("Nodes that the ranks are on, for a machine file.")] = None
    sizes_B: Annotated[
        list[int],
        Option(
            "Sizes of messages, for a machine file or to watch.",
            flags=("--bytes",),
            read=parse_bytes,
            repeat=True,
            commas=True,
        ),
    ] = Field(default_factory=list)
    watch: Annotated[
        bool,
        Option(
            "Launch the library, and name the algorithms whose messages are those of its default.",
            flags=("--watch",),
            panel=WATCH,
        ),
    ] = False
    mpi: Annotated[
        str,
        Option(
            "MPI library to watch: auto, openmpi, mpich, a prefix or a wrapper. [default: the campaign's]",
            known=lambda: ("auto", *KINDS),
            panel=WATCH,
        ),
    ] = ""
    hosts: Annotated[list[str], Option(read=words, panel=WATCH)] = Field(default_factory=list)
    trust: Annotated[bool, Option(flags=("--trust",), panel=WATCH)] = False
