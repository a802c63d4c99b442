"""What `hockney report` is told, and the part of it that a study is told too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.machine.level_option import AnyLevel
from hockney.records.statistic import CollectiveStatistic
from hockney.units import parse_bytes
from hockney.words import words


class CollectiveTimes(BaseModel):
    """The statistic over ranks, and the sizes at which times are drawn against ranks."""

    statistic: Annotated[
        CollectiveStatistic,
        Option("[default: of those in the table the one that says most]"),
    ] = ""
    sizes_B: Annotated[
        list[int],
        Option(
            "Times of collectives are drawn and fitted against ranks at these, with commas between. "
            "[default: a small, a middle and a large one]",
            flags=("--bytes",),
            read=lambda text: sorted({parse_bytes(word) for word in words(text)}),
        ),
    ] = Field(default_factory=list)


class ReportOptions(CollectiveTimes):
    """What is reported on, with what beside it, and into which files."""

    empty_means_default: ClassVar[bool] = True

    campaigns: Annotated[
        list[Path],
        Argument(
            "Campaign folder, or a tidy table (.csv, .csv.gz, .parquet); several are compared on one page.",
            metavar="CAMPAIGN",
        ),
    ]
    output: Annotated[
        Path | None, Option("HTML file. [default: report.html, or card.html]", flags=("--output", "-o"))
    ] = None
    card: Annotated[
        bool,
        Option(
            "A few printed pages about the machine instead of the whole report; CAMPAIGN may also be a machine "
            "file, or the name of a published machine.",
            flags=("--card",),
        ),
    ] = False
    peaks: Annotated[
        list[str],
        Option(
            "NAME=RATE or NAME@LOCALITY=RATE in one direction, drawn as a line; repeat for several. Without a "
            "locality it limits messages between nodes where there are any. Of some sizes only: `PIO up to "
            "16KiB=10.6GB/s`, `SDMA above 16KiB=12.5GB/s`. [default: the links of the nodes]",
            flags=("--peak",),
            metavar="NAME[@LOCALITY]=RATE",
        ),
    ] = Field(default_factory=list)
    machine: Annotated[Path | None, Option("Its fits are shown. [default: fitted anew]")] = None
    systems: Annotated[
        list[str],
        Option(
            "A known one, or a JSON file that describes it: where ranks share a cache, a package, a "
            "node. Repeat for a table of several. [default: what the launches tell]",
            flags=("--system",),
            metavar="NAME|FILE",
        ),
    ] = Field(default_factory=list)
    figures: Annotated[
        Path | None, Option("Here a folder: every figure as PNG and SVG.", flags=("--figure",))
    ] = None
    csv: Annotated[Path | None, Option("Here a folder: one file for each configuration.")] = None
    any_level: AnyLevel = False
