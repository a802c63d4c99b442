"""Options of `hockney schedule`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument, Option
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest, algorithm_names, ask
from hockney.units import parse_bytes
from hockney.words import segment, written


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
