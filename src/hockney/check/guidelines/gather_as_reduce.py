"""One rank could add up vectors that are zero outside the block of each rank."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("gather_as_reduce")(Guideline("gather(n/P) ≤ reduce(n)", composed("gather", "reduce")))
