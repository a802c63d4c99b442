"""What cpp/runner/apps/jacobi.cpp answers."""

from __future__ import annotations

from pydantic import Field

from hockney.apps.stencil.answer import StencilAnswer


class JacobiAnswer(StencilAnswer):
    """`mlups`: 10⁶ lattice updates per second; seconds are of all sweeps of a repetition, one entry a rank.

    The bound is there where it was measured: `stream_bandwidth_B_per_s` over `bytes_per_update`.
    """

    mlups: float
    pack_s: list[float] = Field(default_factory=list)
    wait_s: list[float] = Field(default_factory=list)
    instructions: str = ""
    non_temporal: bool = False
    block_rows: int = 0
    is_layer_kept: bool = False
    stream_bandwidth_B_per_s: float | None = None
    bytes_per_update: float | None = None
    bound_mlups: float | None = None
    fraction_of_bound: float | None = None
