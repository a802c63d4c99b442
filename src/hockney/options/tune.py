"""Options of `hockney tune` and `apply`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.options.profile import LaunchedProgram
from hockney.records.keys import COLLECTIVES
from hockney.registry import did_you_mean, unit_files
from hockney.tune.rules import SIZES_B
from hockney.units import listed, parse_bytes, whole, words, written

TARGETS = [name.replace("_", "-") for name in unit_files("hockney.tune.targets")]
VERIFY = "Verification"
"""Heading of options."""


def _target(word: str) -> str:
    name = word.replace("_", "-")
    if name not in TARGETS:
        near = did_you_mean(name, TARGETS)
        raise RequestError(f"unknown tuning target {word!r}", f"{near}known: {', '.join(TARGETS)}")
    return name.replace("-", "_")


def _ranks(text: str) -> list[int]:
    found = sorted({whole(word) for word in words(text)})
    if found and found[0] < 2:
        raise RequestError(f"{found[0]} is no number of ranks to tune for", "name 2 or more, for example 4,8")
    return found


class ChosenBy(BaseModel, defer_build=True):
    """From what rules are made, and for which library."""

    empty_means_default: ClassVar[bool] = True

    source: Annotated[
        Path,
        Argument("Campaign folder, tidy table (.csv, .csv.gz, .parquet), or machine file.", metavar="CAMPAIGN"),
    ]
    target: Annotated[
        str,
        Option(
            f"Form of the rules: {listed(TARGETS)}.",
            flags=("--for",),
            read=_target,
            known=lambda: TARGETS,
        ),
    ]
    operations: Annotated[
        list[str],
        Option(
            "Collectives, with commas between. [default: all that were measured]",
            flags=("--operation",),
            read=words,
            known=lambda: COLLECTIVES,
        ),
    ] = Field(default_factory=list)
    ranks: Annotated[
        list[int],
        Option(
            "Numbers of ranks, with commas between, by the model where not measured. [default: those measured]",
            read=_ranks,
        ),
    ] = Field(default_factory=list)
    sizes_B: Annotated[
        list[int],
        Option(
            "Sizes at which the model of a machine file chooses, with commas between.",
            flags=("--bytes",),
            read=lambda text: sorted({parse_bytes(word) for word in words(text)}),
            show=lambda sizes: ",".join(map(written, sizes)),
        ),
    ] = Field(default_factory=lambda: [*SIZES_B])
    where: Annotated[
        list[str],
        Option(metavar="NAME=VALUE"),
    ] = Field(default_factory=list)
    mpi: Annotated[str, Option("MPI that will read the file, where the table does not say it.")] = ""


class TuneOptions(ChosenBy):
    """Where rules go, and how they are tried before."""

    output: Annotated[Path, Option("File to write.", flags=("--output", "-o"))]
    verify: Annotated[
        bool,
        Option(
            "Launch with and without the rules, and drop those that make calls slower.",
            flags=("--verify",),
            panel=VERIFY,
        ),
    ] = False
    launches: Annotated[
        int, Option("Launches with the rules, and as many without.", panel=VERIFY), Field(ge=4, le=1000)
    ] = 5
    trust: Annotated[bool, Option(flags=("--trust",), panel=VERIFY)] = False


class ApplyOptions(LaunchedProgram):
    """What is put under a program, and what is said of it at the end."""

    table: Annotated[
        Path, Option("Table of schedules, as `hockney tune --for hockney` writes it.", flags=("--rules",))
    ]
    bitwise: Annotated[
        bool,
        Option(
            "Leave floating-point and user-defined reductions to the library: results keep every bit.",
            flags=("--bitwise",),
        ),
    ] = False
    summary: Annotated[
        bool,
        Option(
            "Print at the end which calls ran by which schedule, and what they gained.",
            flags=("--summary",),
        ),
    ] = False
    compare: Annotated[
        bool,
        Option(
            "Run half of the calls by the library, and add the measured gain to the summary.",
            flags=("--compare",),
        ),
    ] = False
