"""What a program on boxes of cells answers; one entry a rank."""

from __future__ import annotations

from pydantic import Field

from hockney.records.answers import Answer


class StencilAnswer(Answer):
    """What predictions start from: time in the cells and bytes of halos sent in an iteration.

    Of a run that was measured elsewhere both are empty. `pack_s`: copying faces, where timed. Of a solver that
    stops by itself: its `iterations`, and the bytes that an unknown moves in one, by its formulas and as counted.
    """

    compute_s: list[float] = Field(default_factory=list)
    halo_B: list[float] = Field(default_factory=list)
    pack_s: list[float] | None = None
    iterations: int | None = None
    bytes_per_unknown: float | None = None
    counted_bytes_per_unknown: float | None = None
