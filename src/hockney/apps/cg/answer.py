"""What cpp/runner/apps/cg.cpp answers."""

from __future__ import annotations

from hockney.apps.stencil.answer import StencilAnswer


class CgAnswer(StencilAnswer):
    """`compute_s`, `halo_s`, `allreduce_s`: seconds of a whole solution, means of repetitions, one entry a rank.

    A norm that overflowed is None; without computing there are none. `stream_samples_s` and `fractions_of_bound`
    are there where the bound was measured. Where the solution was written, once, to a file of `file_B`:
    `file_write_s`, of the slowest rank from a barrier until its data are safe (MPI_File_write_all and
    MPI_File_sync).
    """

    iterations: int
    converged: bool
    iteration_s: float
    unknowns: float
    bytes_per_unknown: float
    counted_bytes_per_unknown: float
    halo_s: list[float]
    allreduce_s: list[float]
    residual_norms: list[float | None] | None = None
    true_residual_norm: float | None = None
    residual_tolerance: float | None = None
    stream_samples_s: list[float] | None = None
    fractions_of_bound: list[float] | None = None
    file_B: float | None = None
    file_write_s: float | None = None
