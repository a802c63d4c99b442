"""What cpp/runner/apps/sum3d.cpp answers."""

from __future__ import annotations

from hockney.records.answers import Answer

PARTS = ("scatter_s", "compute_s", "gather_s")


class Sum3dAnswer(Answer):
    """By rank: seconds of each part of a repetition's cycles, elements summed, and memory bandwidths.

    `memory_bandwidth_B_per_s`: STREAM's triad alone; `sum_bandwidth_B_per_s`: the triad in place of the sum.
    """

    scatter_s: list[float]
    compute_s: list[float]
    gather_s: list[float]
    elements: list[int]
    wrong_elements: int = 0
    memory_bandwidth_B_per_s: list[float]
    sum_bandwidth_B_per_s: list[float]

    @property
    def parts_s(self) -> dict[str, float]:
        """Seconds of all ranks together, by part."""
        return {name.removesuffix("_s"): sum(getattr(self, name)) for name in PARTS}
