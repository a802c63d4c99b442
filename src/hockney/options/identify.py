"""Options of `hockney identify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.records.keys import COLLECTIVES
from hockney.runner.mpi import KINDS
from hockney.units import parse_bytes
from hockney.words import words

WATCH = "Watching"
"""Heading of options."""


class IdentifyOptions(BaseModel):
    """Whose default is asked for, and how it may be found."""

    source: Annotated[
        Path | None,
        Argument(
            "Campaign folder, tidy table or machine file; with --watch a campaign, or none.",
            metavar="CAMPAIGN|TABLE|MACHINE",
        ),
    ] = None
    operations: Annotated[
        list[str],
        Option(
            "A collective, or several. [default: all that have a default]",
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
            "By the library's decision in that version, by what --watch has stored, or from times alone.",
            flags=("--evidence",),
        ),
    ] = "any"
    statistic: Annotated[str, Option("[default: the first of those in the table]")] = ""
    system: Annotated[str, Option("A known one, or a JSON file that describes it.")] = ""
    machine: Annotated[
        Path | None, Option("Costs of messages where no named algorithm was measured. [default: the campaign's]")
    ] = None
    ranks: Annotated[list[int], Option("For a machine file, or to watch; several: with commas.")] = Field(
        default_factory=list
    )
    nodes: Annotated[int | None, Option("For a machine file: those that the ranks are on.")] = None
    sizes_B: Annotated[
        list[int],
        Option(
            "For a machine file, or to watch; several: with commas.",
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
            "auto, openmpi, mpich, a prefix or a wrapper. [default: the campaign's, or auto]",
            known=lambda: ("auto", *KINDS),
            panel=WATCH,
        ),
    ] = ""
    hosts: Annotated[list[str], Option(read=words, panel=WATCH)] = Field(default_factory=list)
    trust: Annotated[bool, Option(flags=("--trust",), panel=WATCH)] = False
