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


def step(one: Step) -> str:
    """One step in words, with what it waits for."""
    size = format_bytes(max(one.source.length_B, one.target.length_B))
    match one.kind:
        case Kind.send:
            text = f"send {size} from {region(one.source)} to rank {one.peer}, tag {one.tag}"
        case Kind.receive:
            text = f"receive {size} into {region(one.target)} from rank {one.peer}, tag {one.tag}"
        case Kind.copy:
            text = f"copy {size} from {region(one.source)} to {region(one.target)}"
        case _:
            text = f"reduce {size}: {region(one.target)} = {region(one.source)} ⊕ {region(one.target)}"
    return f"{text}; after {', '.join(map(str, one.after))}" if one.after else text


def counts(schedule: Schedule) -> dict[str, Any]:
    """What `hockney schedule count` prints; one-ported, see docs/reference/schedule-counts.md."""
    told: Counts = _core.count(schedule)
    if told.blocks:
        raise HockneyError("one-ported, the schedule does not get to its end", "please report it")
    return {
        "rounds": told.rounds,
        "messages": told.messages,
        "bytes": told.bytes,
        "critical_path": {"messages": told.critical_messages, "bytes": told.critical_bytes},
        "max_degree": told.max_degree,
        "round_bytes": told.round_bytes,
        "reduced_bytes": told.reduced_bytes,
        "copied_bytes": told.copied_bytes,
        "most_sent_bytes": max(told.sent_bytes, default=0),
        "most_received_bytes": max(told.received_bytes, default=0),
    }


def as_data(one: Step) -> dict[str, Any]:
    """A step as plain data."""
    return {
        "kind": one.kind.name,
        "peer": one.peer if one.peer >= 0 else None,
        "tag": one.tag if one.peer >= 0 else None,
        "from": _region_data(one.source),
        "into": _region_data(one.target),
        "after": list(one.after),
    }


def _region_data(part: Region) -> dict[str, Any] | None:
    if part.length_B == 0:
        return None
    return {"memory": part.memory.name, "offset_B": part.offset_B, "length_B": part.length_B}
