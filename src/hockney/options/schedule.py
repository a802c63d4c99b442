"""Options of `hockney schedule`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest, algorithm_names, ask
from hockney.schedule.formats import formats
from hockney.schedule.proof import MOST_RANKS
from hockney.units import parse_bytes, parse_per_byte, parse_time
from hockney.words import listed, segment, wholes, written


class ScheduleOptions(BaseModel):
    """Which schedule: a collective's algorithm on so many ranks."""

    collective: Annotated[str, Argument("bcast, allreduce, …", metavar="COLLECTIVE", known=lambda: COLLECTIVES)]
    algorithm: Annotated[str, Option("See `hockney schedule list`.", known=algorithm_names)]
    ranks: Annotated[int, Option()]
    size_B: Annotated[
        int,
        Option(
            "The vector (bcast, reduce, allreduce), or one rank's block (the others).",
            flags=("--bytes",),
            read=parse_bytes,
            show=written,
        ),
    ] = 1024
    root: Annotated[int, Option()] = 0
    segment_B: Annotated[int, Option(flags=("--segment",), read=segment, show=written)] = 0
    radix: Annotated[int, Option()] = 0

    def request(self, algorithm: str = "") -> ScheduleRequest:
        """The schedule, by another algorithm where one is named; RequestError where it is not defined."""
        return ask(
            self.collective,
            algorithm or self.algorithm,
            ranks=self.ranks,
            root=self.root,
            size_B=self.size_B,
            segment_B=self.segment_B,
            radix=self.radix,
        )


class ListOptions(BaseModel):
    """Which algorithms are listed."""

    collective: Annotated[
        str | None, Argument("Only algorithms of this collective.", known=lambda: COLLECTIVES)
    ] = None


class StepsOptions(ScheduleOptions):
    """Which schedule is shown, and of which rank."""

    rank: Annotated[int | None, Option("Only this rank's steps.")] = None


class VerifyOptions(ListOptions):
    """What is proved, on which ranks, roots and segments."""

    algorithm: Annotated[str | None, Option("[default: all]")] = None
    ranks: Annotated[
        list[int],
        Option(
            "8, 8,16 or 1-64.",
            read=lambda text: wholes(text, range(1, MOST_RANKS + 1)),
            show=lambda counts: f"{counts[0]}-{counts[-1]}",
        ),
    ] = [*range(1, 65)]
    roots: Annotated[
        list[int] | None,
        Option(
            "A list, or all: up to 17 ranks, then two.",
            flags=("--root",),
            read=lambda text: None if text == "all" else wholes(text, range(MOST_RANKS)),
            show=lambda _: "all",
        ),
    ] = None
    segment_B: Annotated[
        int | None,
        Option(
            "Or all.",
            flags=("--segment",),
            read=lambda text: None if text == "all" else segment(text),
            show=lambda _: "all",
        ),
    ] = None


class CountOptions(ScheduleOptions):
    """Which schedules are counted."""

    algorithm: Annotated[
        str,
        Option(
            "One, several, all, or default: what a library chooses.",
            commas=True,
            known=lambda: ("all", "default", *algorithm_names()),
        ),
    ]
    mpi: Annotated[str, Option("With default: its name, such as 'Open MPI 5.0' or 'MPICH 4.2'.")] = ""
    nodes: Annotated[int, Option("With default: those that the ranks are on."), Field(ge=1)] = 1


class DrawOptions(BaseModel):
    """The kind of picture, and its file."""

    style: Annotated[str, Option("tree, steps or space-time. [default: by what is given]")] = ""
    output: Annotated[Path, Option("A picture: .svg, .png or .html.", flags=("--output", "-o"))] = Path(
        "schedule.svg"
    )


class ExportOptions(BaseModel):
    """The format, what a reduction costs in it, and the file."""

    format_: Annotated[str, Option(f"Of the file: {listed(formats.names())}.", flags=("--format",))] = "goal"
    reduce_ns_per_byte: Annotated[
        float, Option("Time to reduce one byte, in nanoseconds."), Field(ge=0, le=1e9)
    ] = 0.0
    output: Annotated[Path | None, Option("File. [default: standard output]", flags=("--output", "-o"))] = None


class LogGpOptions(BaseModel):
    """LogGP's parameters, or a machine file that has them."""

    machine: Annotated[Path | None, Option("With a `loggp` fit.")] = None
    locality: Annotated[str, Option("Of those in the machine file.")] = ""
    latency_s: Annotated[float | None, Option("L of LogGP.", flags=("--latency",), read=parse_time)] = None
    overhead_s: Annotated[float, Option(flags=("--overhead",), read=parse_time, show="{:g}s".format)] = 0.0
    gap_s: Annotated[float, Option(flags=("--gap",), read=parse_time, show="{:g}s".format)] = 0.0
    gap_s_per_B: Annotated[
        float | None,
        Option(
            "Or the time of a byte, such as 6ns: G of LogGP.",
            flags=("--bandwidth",),
            read=parse_per_byte,
        ),
    ] = None
    reduce_s_per_B: Annotated[
        float,
        Option(flags=("--reduction",), read=parse_per_byte, show=None),
    ] = 0.0
