"""Fujitsu MPI (Fugaku): Open MPI's named algorithms; its own default choices are not published.

Fujitsu MPI 4.0.1 derives from Open MPI 4; its names that Open MPI has too are taken to be the same algorithms,
with the same default segment size and fan-out. Its own (trinaryx3, bintree6d, trix6, 3dtorus, blacc3d, …) go
over the dimensions of the torus and have no schedule here.
"""

from __future__ import annotations

import re

from hockney.predict.decisions import openmpi
from hockney.predict.decisions.base import Decisions, ScheduleChoice, Version, libraries


def default(
    operation: str,  # noqa: ARG001
    ranks: int,  # noqa: ARG001
    size_B: int,  # noqa: ARG001
    version: Version,  # noqa: ARG001
    *,
    nodes: int | None = 1,  # noqa: ARG001
    element_B: int = 4,  # noqa: ARG001
) -> ScheduleChoice | None:
    """None: not published."""
    return None


def named(
    operation: str,
    algorithm: str,
    version: Version,  # noqa: ARG001
    *,
    ranks: int | None = None,
    size_B: int | None = None,
    segment_B: int = 0,
    element_B: int = 4,
) -> ScheduleChoice | None:
    """Open MPI's answer; None where the algorithm calls other collectives: Fujitsu MPI chooses these itself."""
    return openmpi.named(
        operation, algorithm, (), ranks=ranks, size_B=size_B, segment_B=segment_B, element_B=element_B
    )


libraries.register("fujitsu")(
    Decisions(
        re.compile(r"fujitsu mpi\b"),
        default,
        named,
        openmpi.SCHEDULES,
        "Fujitsu MPI's own choices are not published; its names that Open MPI has too are taken as Open MPI's",
    )
)
