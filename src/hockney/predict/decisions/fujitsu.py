"""Fujitsu MPI (Fugaku): Open MPI's named algorithms; its own default choices are not published.

Fujitsu MPI 4.0.1 derives from Open MPI 4; its names that Open MPI has too are taken to be the same algorithms,
with the same default segment size and fan-out. Its own (trinaryx3, bintree6d, trix6, 3dtorus, blacc3d, …) go
over the dimensions of the torus and have no schedule here.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hockney.predict.decisions import openmpi
from hockney.predict.decisions.base import Decisions, LibraryCall, ScheduleChoice, libraries


def run(name: str, call: LibraryCall) -> ScheduleChoice | None:
    """Open MPI's answer; None where the algorithm calls other collectives: Fujitsu MPI chooses these itself."""
    return openmpi.run(name, replace(call, version=()))


libraries.register("fujitsu")(
    Decisions(
        re.compile(r"fujitsu mpi\b"),
        lambda _: None,  # not published
        run,
        openmpi.SCHEDULES,
        "Fujitsu MPI's own choices are not published; its names that Open MPI has too are taken as Open MPI's",
    )
)
