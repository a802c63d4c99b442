"""All ranks could have the result that one wants."""

from __future__ import annotations

from hockney.check.guidelines.base import Guideline, composed, guidelines

guidelines.register("reduce_as_allreduce")(Guideline("reduce(n) ≤ allreduce(n)", composed("reduce", "allreduce")))
