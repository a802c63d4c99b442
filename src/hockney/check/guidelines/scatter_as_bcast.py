"""All ranks could get the vector of which each wants a block."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("scatter_as_bcast")(Guideline("scatter(n/P) ≤ bcast(n)", composed("scatter", "bcast")))
