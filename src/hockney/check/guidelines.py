"""The guidelines: calls that a library has no reason to do slower than others that do the same.

Träff, Gropp and Thakur, Self-Consistent MPI Performance Guidelines, IEEE TPDS 21 (2010) 698; Hunold and
Carpen-Amarie, PGMPI (2016) and PGMPITuneLib (2018), which test them by measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from typing import NamedTuple

from hockney.check.cells import DEFAULT, TimedCall
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.registry import Registry
from hockney.units import grouped

Curves = Mapping[TimedCall, Mapping[int, int]]
"""The sizes of each call that were timed, rising, each with the row of its times."""


class Part(NamedTuple):
    """A call of a size, so many times one after another."""

    times: int
    call: TimedCall
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
MOST_PADDED = 2
"""A larger call can stand for what was not measured; above this ratio it says nothing."""
PARTS = (2, 4, 8, 16)
"""Into how many a call is split; more of them say little that these do not, and each comparison costs power."""


def _own_calls(curves: Curves, operation: str = "") -> Iterator[tuple[TimedCall, list[int]]]:
    """The calls of which the library chose the algorithm, of one operation or of all, with their sizes."""
    for call, sizes in curves.items():
        is_timed = call.operation in COLLECTIVES or call.operation == MESSAGE
        if is_timed and call.algorithm == DEFAULT and call.operation == (operation or call.operation):
            yield call, list(sizes)


def _beside(curves: Curves, call: TimedCall, other: TimedCall, sizes: Iterable[int]) -> Iterator[Bound]:
    """A call beside another, at those of its sizes at which the other was timed, too."""
    for size_B in sizes:
        if size_B in curves[other]:
            yield Bound(Part(1, call, size_B), (Part(1, other, size_B),))


def _monotone_in_bytes(curves: Curves) -> Iterator[Bound]:
    """A smaller call could be padded to a larger one: no size takes longer than the next that was timed."""
    for call, sizes in _own_calls(curves):
        for smaller_B, larger_B in pairwise(sizes):
            yield Bound(Part(1, call, smaller_B), (Part(1, call, larger_B),))


def _split_in_parts(curves: Curves) -> Iterator[Bound]:
    """A call could be split into k smaller ones: none takes longer than these one after another."""
    for call, sizes in _own_calls(curves):
        for size_B in sizes:
            needed_B = [-(-size_B // count) for count in PARTS]
            # What was not timed is padded to the next size; several may be padded to one.
            for part_B in dict.fromkeys(next(at_B for at_B in sizes if at_B >= least_B) for least_B in needed_B):
                if 0 < part_B < size_B:
                    yield Bound(Part(1, call, size_B), (Part(-(-size_B // part_B), call, part_B),))


def _barrier_as_allreduce(curves: Curves) -> Iterator[Bound]:
    """No rank leaves an allreduce before all have entered it: the smallest could stand for a barrier."""
    for call, sizes in _own_calls(curves, "barrier"):
        if least_B := next(iter(curves.get(call.of("allreduce"), ())), None):
            yield Bound(Part(1, call, sizes[0]), (Part(1, call.of("allreduce"), least_B),))


def _default_as_named(curves: Curves) -> Iterator[Bound]:
    """What the library chooses is no slower than an algorithm that has a name: its own, or ours.

    Ours are messages between pairs of ranks, which the library could send as well.
    """
    named_of = grouped(
        [call for call in curves if call.algorithm != DEFAULT],
        lambda call: replace(call, algorithm=DEFAULT, segment_B=None, radix=None),
    )
    for call, sizes in _own_calls(curves):
        for named in named_of.get(call, ()):
            yield from _beside(curves, call, named, sizes)


def _monotone_in_ranks(curves: Curves) -> Iterator[Bound]:
    """Fewer ranks have less to do: no call takes longer than the same on the next larger number of ranks.

    Compared are ranks of the same nodes, or as many a node on more nodes: else the larger number may lie
    closer together. No program can replace its ranks; another algorithm on the same ranks mends it.
    """
    own = [call for call, _ in _own_calls(curves) if call.operation in COLLECTIVES]
    for calls in grouped(own, lambda call: replace(call, ranks=None, nodes=None, ppn=None)).values():
        next_of: dict[TimedCall, TimedCall] = {}
        for first, second in combinations(sorted(calls, key=lambda call: call.ranks or 0), 2):
            if first not in next_of and _is_larger(second, first):
                next_of[first] = second
        for call, larger in next_of.items():
            yield from _beside(curves, call, larger, curves[call])


def _is_larger(larger: TimedCall, call: TimedCall) -> bool:
    """Whether a call has more ranks than another, placed alike; nodes that nobody knows may be any."""
    if not call.ranks or not larger.ranks or larger.ranks <= call.ranks or not call.nodes or not larger.nodes:
        return False
    return larger.nodes == call.nodes or (larger.nodes > call.nodes > 1 and larger.ppn == call.ppn)


def _composed(operation: str, parts: list[str], curves: Curves) -> Iterator[Bound]:
    """`operation` takes no longer than `parts` one after another, on as much data.

    Each part has the size that it needs or, where that was not measured, the next that was: a program can pad.
    """
    for call, sizes in _own_calls(curves, operation):
        calls = _parts(curves, call, parts) if (call.ranks or 0) > 1 else []
        for size_B in sizes if calls else ():
            fast = [_at_least(curves, part, _needed_B(call, size_B, part)) for part in calls]
            if all(part is not None for part in fast):
                yield Bound(Part(1, call, size_B), tuple(part for part in fast if part is not None))


def _parts(curves: Curves, call: TimedCall, parts: list[str]) -> list[TimedCall]:
    """The calls of the parts, rooted ones all from one root: that of the call, or the first that they share."""
    if COLLECTIVES[call.operation].rooted:
        roots = [call.root]
    else:
        roots = list(dict.fromkeys(own.root for own, _ in _own_calls(curves) if own.operation in parts))
    for root in roots or [None]:
        calls = [call.of(part, root) for part in parts]
        if all(part in curves for part in calls):
            return calls
    return []


def _needed_B(call: TimedCall, size_B: int, part: TimedCall) -> int:
    """The size of a part that moves as much data as the call: vectors have as many blocks as there are ranks."""
    of_blocks, has_blocks = sizes_are_blocks(call.operation), sizes_are_blocks(part.operation)
    if of_blocks == has_blocks:
        return size_B
    assert call.ranks is not None
    return size_B * call.ranks if of_blocks else -(-size_B // call.ranks)


def _at_least(curves: Curves, call: TimedCall, needed_B: int) -> Part | None:
    size_B = next((size_B for size_B in curves[call] if size_B >= max(needed_B, 1)), None)
    return None if size_B is None or size_B > MOST_PADDED * max(needed_B, 1) else Part(1, call, size_B)


GUIDELINES = {
    "monotone_in_bytes": Guideline("operation(n) ≤ operation(m) for n < m", _monotone_in_bytes),
    "monotone_in_ranks": Guideline(
        "operation(n) on P ranks ≤ operation(n) on Q ranks for P < Q", _monotone_in_ranks
    ),
    "split_in_parts": Guideline("operation(n) ≤ k × operation(n/k)", _split_in_parts),
    "default_as_named": Guideline("operation(n) ≤ the same by a named algorithm", _default_as_named),
    "barrier_as_allreduce": Guideline(
        "barrier ≤ allreduce(one element)", _barrier_as_allreduce, ("recursive_doubling",)
    ),
}
"""Guidelines with a rule of their own for what they compare."""

COMPOSED: Mapping[str, tuple[str, ...]] = {
    # Ranks could add up vectors that are zero outside their own block.
    "allgather_as_allreduce": (),
    # Each rank could send its block to every other as if these were different.
    "allgather_as_alltoall": ("linear",),
    # The blocks could be gathered by one rank and sent to all.
    "allgather_as_gather_and_bcast": (),
    # One rank could reduce and send the result to all.
    "allreduce_as_reduce_and_bcast": ("reduce_bcast",),
    # Each rank could reduce one block, and all gather the blocks.
    "allreduce_as_reduce_scatter_and_allgather": ("ring", "rabenseifner"),
    # The root could send each rank one block, and all gather the blocks.
    "bcast_as_scatter_and_allgather": ("scatter_allgather", "scatter_allgather_ring"),
    # All ranks could gather what one wants.
    "gather_as_allgather": (),
    # One rank could add up vectors that are zero outside the block of each rank.
    "gather_as_reduce": (),
    # All ranks could have the result that one wants.
    "reduce_as_allreduce": (),
    # Each rank could reduce one block, and the root gather the blocks.
    "reduce_as_reduce_scatter_and_gather": ("rabenseifner",),
    # Each rank could have the whole result of which it wants a block.
    "reduce_scatter_as_allreduce": (),
    # One rank could reduce, and send each rank its block.
    "reduce_scatter_as_reduce_and_scatter": (),
    # All ranks could get the vector of which each wants a block.
    "scatter_as_bcast": (),
}
"""One operation as others one after another, as its name says, with our schedules that do the same."""


def _of_name(name: str, schedules: tuple[str, ...]) -> Guideline:
    operation, _, rest = name.partition("_as_")
    parts = rest.split("_and_")
    sized = [f"{name}({'n/P' if sizes_are_blocks(name) else 'n'})" for name in (operation, *parts)]
    return Guideline(f"{sized[0]} ≤ {' + '.join(sized[1:])}", partial(_composed, operation, parts), schedules)


for _name, _guideline in (GUIDELINES | {name: _of_name(name, ours) for name, ours in COMPOSED.items()}).items():
    guidelines.register(_name)(_guideline)
