"""Ranks could add up vectors that are zero outside their own block."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("allgather_as_allreduce")(
    Guideline("allgather(n/P) ≤ allreduce(n)", composed("allgather", "allreduce"))
)
