"""What the library chooses by itself should be no slower than an algorithm that has a name: ours, or its own.

Ours are messages between pairs of ranks, which the library could send as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hockney.check.cells import DEFAULT, Call
from hockney.check.guidelines.base import Bound, Curves, Guideline, Part, guidelines, own_calls


def _bounds(curves: Curves) -> Iterator[Bound]:
    own: dict[Call, list[Call]] = {}
    for call in curves:
        if call.algorithm != DEFAULT:
            same = replace(call, algorithm=DEFAULT, segment_B=None, radix=None)
            own.setdefault(same, []).append(call)
    for call, sizes in own_calls(curves):
        for named in own.get(call, ()):
            for size_B in sizes:
                if size_B in curves[named]:
                    yield Bound(Part(1, call, size_B), (Part(1, named, size_B),))


guidelines.register("default_as_named")(Guideline("operation(n) ≤ the same by a named algorithm", _bounds))
