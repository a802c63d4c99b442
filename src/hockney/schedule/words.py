"""A schedule in words, and its counts as data."""

from __future__ import annotations

from typing import Any

from hockney import _core
from hockney._core import Counts, Kind, Region, Schedule, Step
from hockney.errors import HockneyError
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


def counts(schedule: Schedule) -> dict[str, Any]:
    """What `hockney schedule count` prints; one-ported, see docs/reference/schedule-counts.md."""
    counts: Counts = _core.count(schedule)
    if counts.blocks:
        raise HockneyError("one-ported, the schedule does not get to its end", "please report it")
    return {
        "rounds": counts.rounds,
        "messages": counts.messages,
        "bytes": counts.bytes,
        "critical_path": {"messages": counts.critical_messages, "bytes": counts.critical_bytes},
        "max_degree": counts.max_degree,
        "round_bytes": counts.round_bytes,
        "reduced_bytes": counts.reduced_bytes,
        "copied_bytes": counts.copied_bytes,
        "most_sent_bytes": max(counts.sent_bytes, default=0),
        "most_received_bytes": max(counts.received_bytes, default=0),
    }


def as_data(step: Step) -> dict[str, Any]:
    """A step as plain data."""
    return {
        "kind": step.kind.name,
        "peer": step.peer if step.peer >= 0 else None,
        "tag": step.tag if step.peer >= 0 else None,
        "from": _region_data(step.source),
        "into": _region_data(step.target),
        "after": list(step.after),
    }


def _region_data(part: Region) -> dict[str, Any] | None:
    if part.length_B == 0:
        return None
    return {"memory": part.memory.name, "offset_B": part.offset_B, "length_B": part.length_B}
