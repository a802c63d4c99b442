"""What a library runs by default, as schedules."""

from __future__ import annotations

from hockney.errors import RequestError
from hockney.predict.decisions.base import decisions_for
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest, ask, collectives
from hockney.units import counted, written


def default_schedules(
    mpi: str, collective: str, ranks: int, size_B: int, nodes: int = 1, root: int = 0
) -> list[tuple[str, ScheduleRequest]]:
    """The collectives that `mpi` (`Open MPI 5.0`) runs one after another, each with a name that says what it is.

    RequestError where the library, or its choice, is not known.
    """
    if not mpi:
        raise RequestError("--algorithm default needs --mpi", "for example --mpi 'Open MPI 5.0'")
    if collective not in collectives():
        raise RequestError(f"unknown collective: {collective!r}", f"known: {', '.join(collectives())}")
    library = decisions_for(mpi)
    size_B = size_B if COLLECTIVES[collective].has_size else 0
    choice = library.default(collective, ranks, size_B, nodes=nodes)
    if choice is None:
        raise RequestError(
            f"what {mpi} chooses for {collective} on {counted(ranks, 'rank')} is not known: "
            f"{library.reason or 'no decision says it'}",
            "`hockney identify` finds out what a library runs, where it is installed",
        )
    found = []
    for part in choice.phases(collective, size_B):
        request = ask(
            part.operation,
            part.choice.algorithm,
            ranks=ranks,
            root=root if COLLECTIVES[part.operation].rooted else 0,
            size_B=part.size_B,
            segment_B=part.segment_B,
            radix=part.choice.radix or 0,
        )
        pieces = f", segments of {written(part.segment_B)}" if part.segment_B else ""
        inside = f"{part.operation} " if choice.parts else ""
        found.append((f"default: {inside}{part.choice.algorithm}{pieces}", request))
    return found
