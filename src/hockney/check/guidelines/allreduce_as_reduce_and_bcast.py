"""One rank could reduce and send the result to all."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("allreduce_as_reduce_and_bcast")(
    Guideline("allreduce(n) ≤ reduce(n) + bcast(n)", composed("allreduce", "reduce", "bcast"), ("reduce_bcast",))
)
