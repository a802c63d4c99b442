"""Schedules for other programs: GOAL text, rank by rank, so that memory holds one rank at a time."""

from __future__ import annotations

from collections.abc import Iterator

from hockney import _core
from hockney.schedule.catalogue import ScheduleRequest


def goal(request: ScheduleRequest, reduce_ns_per_B: float) -> Iterator[str]:
    """GOAL text, as LogGOPSim reads it (Hoefler, Siebert and Lumsdaine, ICPP 2009), without its last line end.

    A tick is a nanosecond. Copies and reductions are `calc`: a reduction takes `reduce_ns_per_B` for each byte, a
    copy nothing. Messages between two ranks have tags of their own, because GOAL knows no order between steps
    that do not depend on one another.
    """
    p = request.problem
    yield f"num_ranks {p.ranks}"
    for rank in range(p.ranks):
        steps = _core.goal(request.algorithm.collective, request.algorithm.name, p, rank, reduce_ns_per_B)
        yield f"rank {rank} {{\n{steps}}}"
