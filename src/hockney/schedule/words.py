"""A schedule in words, and its counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hockney import _core
from hockney._core import Kind, Region, Step
from hockney.errors import RequestError
from hockney.schedule.catalogue import DescribedProblem, ScheduleRequest
from hockney.units import format_bytes


def region(part: Region) -> str:
    """`output[0 … 16 B)`; nothing for an empty one."""
    if part.length_B == 0:
        return "nothing"
    return f"{part.memory.name}[{part.offset_B} … {part.offset_B + part.length_B})"


def step(step: Step) -> str:
    """One step in words, with what it waits for."""
    size = format_bytes(max(step.source.length_B, step.target.length_B))
    match step.kind:
        case Kind.send:
            text = f"send {size} from {region(step.source)} to rank {step.peer}, tag {step.tag}"
        case Kind.receive:
            text = f"receive {size} into {region(step.target)} from rank {step.peer}, tag {step.tag}"
        case Kind.copy:
            text = f"copy {size} from {region(step.source)} to {region(step.target)}"
        case _:
            text = f"reduce {size}: {region(step.target)} = {region(step.source)} ⊕ {region(step.target)}"
    return f"{text}; after {', '.join(map(str, step.after))}" if step.after else text


@dataclass(frozen=True)
class CriticalCounts:
    """On the critical path."""

    messages: int
    bytes: int


@dataclass(frozen=True)
class ScheduleCounts:
    """What `hockney schedule count` prints; one-ported, see docs/reference/schedule-counts.md."""

    algorithm: str
    problem: DescribedProblem
    rounds: int
    messages: int
    bytes: int
    critical_path: CriticalCounts
    max_degree: int
    round_bytes: int
    reduced_bytes: int
    copied_bytes: int
    most_sent_bytes: int
    most_received_bytes: int


def counts(request: ScheduleRequest) -> ScheduleCounts:
    """The counts of a schedule."""
    counted = _core.count(request.generate())
    if counted.blocks:
        raise RequestError(
            "one-ported, the schedule does not get to its end: a rank waits for ever",
            "`hockney schedule verify` says which one, and where",
        )
    return ScheduleCounts(
        request.algorithm.name,
        request.described(),
        counted.rounds,
        counted.messages,
        counted.bytes,
        CriticalCounts(counted.critical_messages, counted.critical_bytes),
        counted.max_degree,
        counted.round_bytes,
        counted.reduced_bytes,
        counted.copied_bytes,
        max(counted.sent_bytes, default=0),
        max(counted.received_bytes, default=0),
    )


@dataclass(frozen=True)
class Memory:
    """Bytes that a step reads or writes."""

    memory: str
    offset_B: int
    length_B: int


@dataclass(frozen=True)
class StepAnswer:
    """A step; None: no message, no bytes."""

    kind: str
    peer: int | None
    tag: int | None
    source: Annotated[Memory | None, Field(serialization_alias="from")]
    target: Annotated[Memory | None, Field(serialization_alias="into")]
    after: list[int]


def described(step: Step) -> StepAnswer:
    """A step as a value."""
    is_message = step.peer >= 0
    source, target = (
        Memory(part.memory.name, part.offset_B, part.length_B) if part.length_B else None
        for part in (step.source, step.target)
    )
    return StepAnswer(
        step.kind.name,
        step.peer if is_message else None,
        step.tag if is_message else None,
        source,
        target,
        list(step.after),
    )
