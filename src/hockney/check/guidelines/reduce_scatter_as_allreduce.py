"""Each rank could have the whole result of which it wants a block."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("reduce_scatter_as_allreduce")(
    Guideline("reduce_scatter(n/P) ≤ allreduce(n)", composed("reduce_scatter", "allreduce"))
)
