"""Each rank could reduce one block, and the root gather the blocks."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("reduce_as_reduce_scatter_and_gather")(
    Guideline(
        "reduce(n) ≤ reduce_scatter(n/P) + gather(n/P)",
        composed("reduce", "reduce_scatter", "gather"),
        ("rabenseifner",),
    )
)
