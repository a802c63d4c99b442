"""Formats of exported schedules: lines of text, rank by rank, so that memory holds one rank at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hockney import _core
from hockney._core import Kind, Step
from hockney.registry import Registry
from hockney.schedule.catalogue import ScheduleRequest

Format = Callable[[ScheduleRequest, float], Iterator[str]]
"""(request, nanoseconds to reduce one byte) → lines without their ends."""

formats: Registry[Format] = Registry("format", "hockney.schedule.formats", "how-to/schedules.md")


@formats.register("goal")
def goal(request: ScheduleRequest, reduce_ns_per_B: float) -> Iterator[str]:
    """GOAL text, as LogGOPSim reads it (Hoefler, Siebert and Lumsdaine, ICPP 2009); one tick is a nanosecond.

    Copies and reductions are `calc`: a reduction takes `reduce_ns_per_B` for each byte, a copy nothing. Messages
    between two ranks have tags of their own, because GOAL knows no order between steps that do not depend on one
    another.
    """
    yield f"num_ranks {request.problem.ranks}"
    for rank in range(request.problem.ranks):
        schedule = _core.generate_rank(
            request.algorithm.collective, request.algorithm.name, request.problem, rank
        )
        yield f"rank {rank} {{"
        for number, step in enumerate(schedule.steps):
            yield f"l{number}: {_operation(step, reduce_ns_per_B)}"
            for before in step.after:
                yield f"l{number} requires l{before}"
        yield "}"


def _operation(step: Step, reduce_ns_per_B: float) -> str:
    if step.kind == Kind.send:
        return f"send {step.source.length_B}b to {step.peer} tag {step.tag}"
    if step.kind == Kind.receive:
        return f"recv {step.target.length_B}b from {step.peer} tag {step.tag}"
    cost_ns = reduce_ns_per_B * step.target.length_B if step.kind == Kind.reduce else 0.0
    return f"calc {round(cost_ns)}"
