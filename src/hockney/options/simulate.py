"""Options of `hockney simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hockney.fields import Argument, Option
from hockney.options.schedule import ALGORITHM, ScheduleOptions
from hockney.predict.options import NetworkOptions as NetworkOptions
from hockney.predict.simulation_options import LoggopsOptions as LoggopsOptions
from hockney.predict.simulation_options import SharingOptions as SharingOptions
from hockney.predict.simulation_options import SimulationOptions as SimulationOptions
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import algorithm_names


class SimulatedProblem(ScheduleOptions):
    """What is simulated: a collective's algorithm on so many ranks, or a graph of one's own."""

    collective: Annotated[
        str,
        Argument(
            "Collective, such as bcast, or none with --goal.", metavar="COLLECTIVE", known=lambda: COLLECTIVES
        ),
    ] = ""
    algorithm: Annotated[str, Option(ALGORITHM, known=algorithm_names)] = ""
    ranks: Annotated[int, Option(show=None)] = 0
    goal: Annotated[
        Path | None, Option("File of GOAL text to simulate instead of a collective, with computations in ns.")
    ] = None
