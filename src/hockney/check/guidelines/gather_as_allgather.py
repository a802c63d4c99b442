"""All ranks could gather what one wants."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("gather_as_allgather")(
    Guideline("gather(n/P) ≤ allgather(n/P)", composed("gather", "allgather"))
)
