"""One rank could reduce, and send each rank its block."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("reduce_scatter_as_reduce_and_scatter")(
    Guideline("reduce_scatter(n/P) ≤ reduce(n) + scatter(n/P)", composed("reduce_scatter", "reduce", "scatter"))
)
