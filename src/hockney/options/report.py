"""What `hockney report` is told, and the part of it that a study is told too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.records.statistic import CollectiveStatistic
from hockney.units import parse_bytes, words


class CollectiveTimes(BaseModel, defer_build=True):
    """The statistic over ranks, the sizes drawn against ranks, and the rates that messages are set beside."""

    statistic: Annotated[
        CollectiveStatistic,
        Option("Time to report, such as completion or mean_over_ranks. [default: the most telling]"),
    ] = ""
    sizes_B: Annotated[
        list[int],
        Option(
            "Sizes for the plots of time against ranks, with commas between. [default: a small, a middle and a "
            "large one]",
            flags=("--bytes",),
            read=lambda text: sorted({parse_bytes(word) for word in words(text)}),
        ),
    ] = Field(default_factory=list)
    peaks: Annotated[
        list[str],
        Option(
            "Peak rate to draw as a line, such as `PIO up to 16KiB=10.6GB/s` or `NIC@network=9GB/s` "
            "(repeatable).",
            flags=("--peak",),
            metavar="NAME[@LOCALITY]=RATE",
        ),
    ] = Field(default_factory=list)


class PageOptions(CollectiveTimes):
    """What is reported on, and with what beside it."""

    empty_means_default: ClassVar[bool] = True

    campaigns: Annotated[
        list[Path],
        Argument(
            "Campaign folders, or tidy tables (.csv, .csv.gz, .parquet), compared on one page where several.",
            metavar="CAMPAIGN",
        ),
    ]
    machine: Annotated[Path | None, Option("Machine file whose fits are shown. [default: fitted anew]")] = None
    systems: Annotated[
        list[str],
        Option(
            "System of the ranks: a known name, or a JSON file (repeatable). [default: from the launches]",
            flags=("--system",),
            metavar="NAME|FILE",
        ),
    ] = Field(default_factory=list)
    anonymous: Annotated[bool, Option("Letters in place of the names of systems and hosts.")] = False


class ReportOptions(PageOptions):
    """Whether it is a page or a card, and into which files it goes."""

    output: Annotated[
        Path | None,
        Option("HTML file to write. [default: in the campaign]", flags=("--output", "-o")),
    ] = None
    card: Annotated[
        bool,
        Option(
            "Write a short printable card of a campaign, machine file or published machine.",
            flags=("--card",),
        ),
    ] = False
    figures: Annotated[Path | None, Option("Folder for every figure as PNG and SVG.", flags=("--figure",))] = None
    csv: Annotated[Path | None, Option("Folder for one CSV file of each configuration.")] = None
