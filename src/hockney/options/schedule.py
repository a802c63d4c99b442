"""Options of `hockney schedule`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Argument, Option, named
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest, algorithm_names, ask
from hockney.schedule.proof import MOST_RANKS
from hockney.units import parse_bytes, parse_per_byte, segment, whole, wholes, written

ALGORITHM = "Algorithm of `hockney schedule list`, or with its radix, such as knomial:4."


class ProblemOptions(BaseModel, defer_build=True):
    """A collective's algorithm, on a number of ranks that is said elsewhere."""

    collective: Annotated[
        str, Argument("Collective, such as bcast.", metavar="COLLECTIVE", known=lambda: COLLECTIVES)
    ]
    algorithm: Annotated[str, Option(ALGORITHM, known=algorithm_names)]
    size_B: Annotated[
        int,
        Option(
            "Size of the vector (bcast, reduce, allreduce), or of one rank's block (the others).",
            flags=("--bytes",),
            read=parse_bytes,
            show=written,
        ),
    ] = 1024
    segment_B: Annotated[int, Option(flags=("--segment",), read=segment, show=written)] = 0

    def on(self, ranks: int, algorithm: str, root: int = 0) -> ScheduleRequest:
        """The schedule of `knomial`, or of `knomial:4` with radix 4; RequestError for none."""
        name, colon, radix = algorithm.partition(":")
        with named("--algorithm"):
            if colon and not radix.strip(" 0"):
                raise RequestError(f"{algorithm!r} lacks a radix", f"write {name}, or {name}:4 for radix 4")
            sizes = {"size_B": self.size_B, "segment_B": self.segment_B, "radix": whole(radix or "0")}
        return ask(self.collective, name, ranks=ranks, root=root, **sizes)


class ScheduleOptions(ProblemOptions):
    """Which schedule: a collective's algorithm on so many ranks."""

    ranks: Annotated[int, Option()]

    def request(self) -> ScheduleRequest:
        """The schedule; RequestError where it is not defined."""
        return self.on(self.ranks, self.algorithm)


class ListOptions(BaseModel, defer_build=True):
    """Which algorithms are listed."""

    collective: Annotated[
        str | None, Argument("Only algorithms of this collective.", known=lambda: COLLECTIVES)
    ] = None


class StepsOptions(ScheduleOptions):
    """Which schedule is shown, and of which rank."""

    rank: Annotated[int | None, Option("Show only this rank's steps.")] = None


class VerifyOptions(ListOptions):
    """What is proved, on which ranks, roots and segments."""

    algorithm: Annotated[str | None, Option("Algorithm to prove. [default: all]")] = None
    ranks: Annotated[
        list[int],
        Option(
            "Numbers of ranks: 8, 8,16 or 1-64.",
            read=lambda text: wholes(text, range(1, MOST_RANKS + 1)),
            show=lambda counts: f"{counts[0]}-{counts[-1]}",
        ),
    ] = [*range(1, 65)]


class CountOptions(ProblemOptions):
    """Which schedules are counted."""

    algorithm: Annotated[
        str,
        Option(
            "Algorithm, several with commas, all, or default: what a library chooses.",
            commas=True,
            known=lambda: ("all", "default", *algorithm_names()),
        ),
    ]
    ranks: Annotated[list[int], Option("Numbers of ranks, such as 14,28.", read=whole, repeat=True, commas=True)]
    root: Annotated[int, Option()] = 0
    mpi: Annotated[str, Option("Library of `--algorithm default`, such as 'Open MPI 5.0' or 'MPICH 4.2'.")] = ""
    nodes: Annotated[int, Option("Nodes that the ranks are on, for `--algorithm default`."), Field(ge=1)] = 1


class DrawOptions(BaseModel, defer_build=True):
    """The file of the picture."""

    output: Annotated[Path, Option("Picture to write: .svg, .png or .html.", flags=("--output", "-o"))] = Path(
        "schedule.svg"
    )


class ExportOptions(BaseModel, defer_build=True):
    """What a reduction costs, and the file."""

    reduce_s_per_B: Annotated[
        float,
        Option("Time of a reduced byte, as 0.1ns.", flags=("--reduction",), read=parse_per_byte, show=None),
    ] = 0.0
    output: Annotated[
        Path | None, Option("File to write. [default: standard output]", flags=("--output", "-o"))
    ] = None
