"""A call could be split into k smaller ones: none should take longer than these one after another."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.check.guidelines.base import Bound, Curves, Guideline, Part, guidelines, own_calls

PARTS = (2, 4, 8, 16)
"""Into how many a call is split; more of them say little that these do not, and each comparison costs power."""


def _bounds(curves: Curves) -> Iterator[Bound]:
    for call, sizes in own_calls(curves):
        for size_B in sizes:
            needed_B = [-(-size_B // count) for count in PARTS]
            # What was not timed is padded to the next size; several may be padded to one.
            for part_B in dict.fromkeys(next(at_B for at_B in sizes if at_B >= least_B) for least_B in needed_B):
                if 0 < part_B < size_B:
                    yield Bound(Part(1, call, size_B), (Part(-(-size_B // part_B), call, part_B),))


guidelines.register("split_in_parts")(Guideline("operation(n) ≤ k × operation(n/k)", _bounds))
