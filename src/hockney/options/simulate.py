"""Options of `hockney simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hockney.fields import Argument, Option
from hockney.options.schedule import ScheduleOptions
from hockney.predict.options import NetworkOptions as NetworkOptions
from hockney.predict.simulation_options import LoggopsOptions as LoggopsOptions
from hockney.predict.simulation_options import SharingOptions as SharingOptions
from hockney.predict.simulation_options import SimulationOptions as SimulationOptions
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import algorithm_names
from hockney.units import format_time, parse_time


class SimulatedProblem(ScheduleOptions):
    """What is simulated: a collective's algorithm on so many ranks, or a graph of one's own."""

    collective: Annotated[
        str, Argument("bcast, allreduce, …; none with --goal.", metavar="COLLECTIVE", known=lambda: COLLECTIVES)
    ] = ""
    algorithm: Annotated[str, Option("See `hockney schedule list`.", known=algorithm_names)] = ""
    ranks: Annotated[int, Option(show=None)] = 0
    goal: Annotated[
        Path | None, Option("File of GOAL text: a graph of messages and computations, instead of a collective.")
    ] = None
    tick_s: Annotated[
        float,
        Option("With --goal: a tick of its computations.", flags=("--tick",), read=parse_time, show=format_time),
    ] = 1e-9
