"""A smaller call could be padded to a larger one: no size should take longer than the next that was timed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hockney.check.guidelines.base import Bound, Curves, Guideline, Part, guidelines, own_calls


def _bounds(curves: Curves) -> Iterator[Bound]:
    for call, sizes in own_calls(curves):
        for smaller_B, larger_B in pairwise(sizes):
            yield Bound(Part(1, call, smaller_B), (Part(1, call, larger_B),))


guidelines.register("monotone_in_bytes")(Guideline("operation(n) ≤ operation(m) for n < m", _bounds))
