"""The root could send each rank one block, and all gather the blocks."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("bcast_as_scatter_and_allgather")(
    Guideline(
        "bcast(n) ≤ scatter(n/P) + allgather(n/P)",
        composed("bcast", "scatter", "allgather"),
        ("scatter_allgather", "scatter_allgather_ring"),
    )
)
