"""What a guideline is: calls that a library has no reason to do slower than others that do the same.

Träff, Gropp and Thakur, Self-Consistent MPI Performance Guidelines, IEEE TPDS 21 (2010) 698; Hunold and
Carpen-Amarie, PGMPI (2016) and PGMPITuneLib (2018), which test them by measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hockney.check.cells import DEFAULT, Call
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.registry import Registry

Curves = Mapping[Call, Mapping[int, int]]
"""The sizes of each call that were timed, rising, each with the row of its times."""


class Part(NamedTuple):
    """A call of a size, so many times one after another."""

    times: int
    call: Call
    size_B: int


class Bound(NamedTuple):
    """`slow` should take no longer than the `fast` parts one after another, which bring about the same."""

    slow: Part
    fast: tuple[Part, ...]


@dataclass(frozen=True)
class Guideline:
    """`says`: the guideline as a line of mathematics, n the whole vector and P the ranks.

    `bounds` finds what of the times that there are it compares. `schedules` are those of ours that are the right
    side of the guideline, the best known first: what a library could do inside where it is violated.
    """

    says: str
    bounds: Callable[[Curves], Iterator[Bound]]
    schedules: tuple[str, ...] = ()


guidelines: Registry[Guideline] = Registry("guideline", "hockney.check.guidelines", "reference/check.md")


MESSAGE = "pingpong"
"""The one operation between two ranks that has guidelines: a message, sent and received."""


def own_calls(curves: Curves, operation: str = "") -> Iterator[tuple[Call, list[int]]]:
    """The calls of which the library chose the algorithm, of one operation or of all, with their sizes."""
    for call, sizes in curves.items():
        is_timed = call.operation in COLLECTIVES or call.operation == MESSAGE
        if is_timed and call.algorithm == DEFAULT and call.operation == (operation or call.operation):
            yield call, list(sizes)


MOST_PADDED = 2
"""A larger call can stand for what was not measured; above this ratio it says nothing."""


def composed(operation: str, *parts: str) -> Callable[[Curves], Iterator[Bound]]:
    """`operation` should take no longer than `parts` one after another, on as much data.

    Each part has the size that it needs or, where that was not measured, the next that was: a program can pad.
    """

    def bounds(curves: Curves) -> Iterator[Bound]:
        for call, sizes in own_calls(curves, operation):
            if call.ranks is None or call.ranks < 2:
                continue
            calls = _parts(curves, call, parts)
            for size_B in sizes if calls else ():
                fast = [_at_least(curves, part, _needed_B(call, size_B, part)) for part in calls]
                if all(part is not None for part in fast):
                    yield Bound(Part(1, call, size_B), tuple(part for part in fast if part is not None))

    return bounds


def _parts(curves: Curves, call: Call, parts: tuple[str, ...]) -> list[Call]:
    """The calls of the parts, rooted ones all from one root: that of the call, or the first that they share."""
    if COLLECTIVES[call.operation].rooted:
        roots = [call.root]
    else:
        roots = list(dict.fromkeys(of.root for of, _ in own_calls(curves) if of.operation in parts))
    for root in roots or [None]:
        found = [call.of(part, root) for part in parts]
        if all(part in curves for part in found):
            return found
    return []


def _needed_B(call: Call, size_B: int, part: Call) -> int:
    """The size of a part that moves as much data as the call: vectors have as many blocks as there are ranks."""
    of_blocks, has_blocks = sizes_are_blocks(call.operation), sizes_are_blocks(part.operation)
    if of_blocks == has_blocks:
        return size_B
    assert call.ranks is not None
    return size_B * call.ranks if of_blocks else -(-size_B // call.ranks)


def _at_least(curves: Curves, call: Call, needed_B: int) -> Part | None:
    size_B = next((size_B for size_B in curves[call] if size_B >= max(needed_B, 1)), None)
    return None if size_B is None or size_B > MOST_PADDED * max(needed_B, 1) else Part(1, call, size_B)
