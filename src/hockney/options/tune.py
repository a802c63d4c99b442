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
from hockney.units import parse_bytes
from hockney.words import listed, whole, words, written

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


class TuneOptions(BaseModel):
    """From what rules are made, for which library, and where they go."""

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
    output: Annotated[Path, Option("File to write.", flags=("--output", "-o"))]
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
            "Several: with commas. On others than were measured the model chooses. [default: all that "
            "were measured]",
            read=_ranks,
        ),
    ] = Field(default_factory=list)
    sizes_B: Annotated[
        list[int],
        Option(
            "At these the model chooses from a machine file, with commas between.",
            flags=("--bytes",),
            read=lambda text: sorted({parse_bytes(word) for word in words(text)}),
            show=lambda sizes: ",".join(map(written, sizes)),
        ),
    ] = Field(default_factory=lambda: [*SIZES_B])
    where: Annotated[
        list[str],
        Option(metavar="NAME=VALUE"),
    ] = Field(default_factory=list)
    mpi: Annotated[
        str, Option("The one that will read the file, where the table's launches do not lead to it.")
    ] = ""
    explain: Annotated[bool, Option("Say in words which rules gain most.", flags=("--explain",))] = False
    verify: Annotated[
        bool,
        Option(
            "Before the file is written, launch with the rules and without them in turn: do they take effect, do "
            "they help? What is slower goes back to the default.",
            flags=("--verify",),
            panel=VERIFY,
        ),
    ] = False
    verify_in: Annotated[
        Path | None,
        Option(
            "Folder that keeps the launches; the same command goes on with it. [default: FILE.verified]",
            panel=VERIFY,
        ),
    ] = None
    launches: Annotated[int, Option("Of each variant.", panel=VERIFY), Field(ge=4, le=1000)] = 5
    trust: Annotated[bool, Option(flags=("--trust",), panel=VERIFY)] = False


class ApplyOptions(LaunchedProgram):
    """What is put under a program, and what is said of it at the end."""

    table: Annotated[
        Path, Option("Table of schedules, as `hockney tune --for hockney` writes it.", flags=("--rules",))
    ]
    bitwise: Annotated[
        bool,
        Option(
            "Leave reductions of floating-point numbers and by operators of the program to the library: every "
            "result is then the same to the last bit.",
            flags=("--bitwise",),
        ),
    ] = False
    summary: Annotated[
        bool,
        Option(
            "Say at the end what was called on all ranks, what ran, and what it gained as far as that is known.",
            flags=("--summary",),
        ),
    ] = False
    compare: Annotated[
        bool,
        Option(
            "Let the library's own code run half of the calls that a rule is for, and add to the summary what "
            "the schedules gained.",
            flags=("--compare",),
        ),
    ] = False
    scratch_B: Annotated[
        int | None,
        Option(
            "Memory that a call may take of a process besides the program's own; a call that needs more on any "
            "rank goes to the library. [default: 256 MiB]",
            flags=("--scratch",),
            metavar="SIZE",
            read=parse_bytes,
        ),
    ] = None
    kept_B: Annotated[
        int | None,
        Option(
            "Memory of a process for schedules that are kept for further calls. [default: 64 MiB]",
            flags=("--schedules",),
            metavar="SIZE",
            read=parse_bytes,
        ),
    ] = None
