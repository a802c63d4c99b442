"""Fewer ranks have less to do: no call should take longer than the same on the next larger number of ranks.

Compared are ranks of the same nodes, or as many a node on more nodes: else the larger number may lie
closer together. No program can replace its ranks; another algorithm on the same ranks mends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from hockney.check.cells import Call
from hockney.check.guidelines.base import Bound, Curves, Guideline, Part, guidelines, own_calls
from hockney.records.keys import COLLECTIVES


def _is_larger(larger: Call, call: Call) -> bool:
    """Whether a call has more ranks than another, placed alike; nodes that nobody knows may be any."""
    if not call.ranks or not larger.ranks or larger.ranks <= call.ranks or not call.nodes or not larger.nodes:
        return False
    return larger.nodes == call.nodes or (larger.nodes > call.nodes > 1 and larger.ppn == call.ppn)


def _bounds(curves: Curves) -> Iterator[Bound]:
    alike: dict[Call, list[Call]] = {}
    for call, _ in own_calls(curves):
        if call.operation in COLLECTIVES:
            alike.setdefault(replace(call, ranks=None, nodes=None, ppn=None), []).append(call)
    for calls in alike.values():
        next_of: dict[Call, Call] = {}
        for first, second in combinations(sorted(calls, key=lambda call: call.ranks or 0), 2):
            if first not in next_of and _is_larger(second, first):
                next_of[first] = second
        for call, larger in next_of.items():
            for size_B in curves[call]:
                if size_B in curves[larger]:
                    yield Bound(Part(1, call, size_B), (Part(1, larger, size_B),))


guidelines.register("monotone_in_ranks")(
    Guideline("operation(n) on P ranks ≤ operation(n) on Q ranks for P < Q", _bounds)
)
