"""Each rank could reduce one block, and all gather the blocks."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("allreduce_as_reduce_scatter_and_allgather")(
    Guideline(
        "allreduce(n) ≤ reduce_scatter(n/P) + allgather(n/P)",
        composed("allreduce", "reduce_scatter", "allgather"),
        ("ring", "rabenseifner"),
    )
)
