"""The blocks could be gathered by one rank and sent to all."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("allgather_as_gather_and_bcast")(
    Guideline("allgather(n/P) ≤ gather(n/P) + bcast(n)", composed("allgather", "gather", "bcast"))
)
