"""No rank leaves an allreduce before all have entered it: the smallest could stand for a barrier."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.check.guidelines.base import Bound, Curves, Guideline, Part, guidelines, own_calls


def _bounds(curves: Curves) -> Iterator[Bound]:
    for call, sizes in own_calls(curves, "barrier"):
        if least := next(iter(curves.get(call.of("allreduce"), ())), None):
            yield Bound(Part(1, call, sizes[0]), (Part(1, call.of("allreduce"), least),))


guidelines.register("barrier_as_allreduce")(
    Guideline("barrier ≤ allreduce(one element)", _bounds, ("recursive_doubling",))
)
