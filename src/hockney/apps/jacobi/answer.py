"""What cpp/runner/apps/jacobi.cpp answers."""

from __future__ import annotations

from pydantic import Field

from hockney.apps.stencil.answer import StencilAnswer


class JacobiAnswer(StencilAnswer):
    """`mlups`: 10⁶ lattice updates per second; seconds are of all sweeps of a repetition, one entry a rank.

    `fraction_of_bound`, where the bound was measured; docs/reference/run-jacobi.md has what else is said.
    """

    mlups: float
    pack_s: list[float] = Field(default_factory=list)
    wait_s: list[float] = Field(default_factory=list)
    fraction_of_bound: float | None = None
