"""What cpp/runner/apps/sum3d.cpp answers."""

from __future__ import annotations

from pydantic import Field

from hockney.records.answers import Answer

PARTS = ("generate_s", "scatter_s", "compute_s", "gather_s", "pack_s")


class Sum3dAnswer(Answer):
    """By rank: seconds of each part of a repetition's cycles, elements summed, and memory bandwidths.

    `generate_s` is rank 0's making of the elements inside the cycle, 0 where it was not asked for.
    `generation_s`, outside: both matrices on rank 0; `rand_s`: a random double of the C library; `fresh_s`: what
    the first write into new memory for one part takes beyond the second. `apart_…`: what the slowest rank needs
    for each part where all begin it together, behind a barrier, and for all parts one after another with its 95 %
    interval; in turns with the repetitions. Runs of older versions and of simulations lack these.
    `memory_bandwidth_B_per_s`: STREAM's triad alone; `sum_bandwidth_B_per_s`: the triad in place of the sum.
    """

    scatter_s: list[float]
    compute_s: list[float]
    gather_s: list[float]
    pack_s: list[float]
    elements: list[int]
    wrong_elements: int = 0
    memory_bandwidth_B_per_s: list[float]
    sum_bandwidth_B_per_s: list[float]
    generate_s: list[float] = Field(default_factory=list)
    generation_s: list[float] = Field(default_factory=list)
    rand_s: list[float] = Field(default_factory=list)
    fresh_s: list[float] = Field(default_factory=list)
    apart_generate_s: float | None = None
    apart_scatter_s: float | None = None
    apart_compute_s: float | None = None
    apart_gather_s: float | None = None
    apart_pack_s: float | None = None
    apart_time_s: float | None = None
    apart_low_s: float | None = None
    apart_high_s: float | None = None

    @property
    def parts_s(self) -> dict[str, list[float]]:
        """Each part's seconds by rank; without the elements' making where no rank made any."""
        return {name: getattr(self, name) for name in PARTS if name != PARTS[0] or any(self.generate_s)}
