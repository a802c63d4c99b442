"""A schedule's steps and counts, and its steps in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hockney import _core
from hockney._core import Kind, RankSchedule, Region, Step
from hockney.errors import HockneyError
from hockney.schedule.catalogue import ScheduledProblem, ScheduleRequest
from hockney.units import format_bytes


@dataclass(frozen=True)
class MemoryRegion:
    """Where the bytes of a step are."""

    memory: str
    offset_B: int
    length_B: int


@dataclass(frozen=True)
class ScheduleStep:
    """A step of a rank, and the numbers of those that it waits for."""

    kind: str
    peer: int | None
    tag: int | None
    source: Annotated[MemoryRegion | None, Field(alias="from")]
    target: Annotated[MemoryRegion | None, Field(alias="into")]
    after: list[int]


@dataclass(frozen=True)
class RankSteps:
    """The steps of one rank."""

    scratch_B: int
    steps: list[ScheduleStep]


@dataclass(frozen=True)
class CriticalCounts:
    """On the critical path."""

    messages: int
    bytes: int


@dataclass(frozen=True)
class ScheduleCounts:
    """Messages and bytes of one algorithm."""

    algorithm: str
    problem: ScheduledProblem
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


def counts(request: ScheduleRequest) -> ScheduleCounts:
    """What a schedule sends and computes, one-ported: see docs/reference/schedule-counts.md."""
    counts = _core.count(request.generate())
    if counts.blocks:
        raise HockneyError("one-ported, the schedule does not get to its end", "please report it")
    return ScheduleCounts(
        algorithm=request.algorithm.name,
        problem=request.described(),
        rounds=counts.rounds,
        messages=counts.messages,
        bytes=counts.bytes,
        critical_path=CriticalCounts(counts.critical_messages, counts.critical_bytes),
        max_degree=counts.max_degree,
        round_bytes=counts.round_bytes,
        reduced_bytes=counts.reduced_bytes,
        copied_bytes=counts.copied_bytes,
        most_sent_bytes=max(counts.sent_bytes, default=0),
        most_received_bytes=max(counts.received_bytes, default=0),
    )


def rank_steps(rank: RankSchedule) -> RankSteps:
    """The steps of one rank."""
    return RankSteps(
        rank.scratch_B,
        [
            ScheduleStep(
                step.kind.name,
                step.peer if step.peer >= 0 else None,
                step.tag if step.peer >= 0 else None,
                _memory_region(step.source),
                _memory_region(step.target),
                list(step.after),
            )
            for step in rank.steps
        ],
    )


def _memory_region(part: Region) -> MemoryRegion | None:
    return MemoryRegion(part.memory.name, part.offset_B, part.length_B) if part.length_B else None
