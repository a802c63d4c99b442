"""Each rank could send its block to every other as if these were different."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("allgather_as_alltoall")(
    Guideline("allgather(n/P) ≤ alltoall(n/P)", composed("allgather", "alltoall"), ("linear",))
)
