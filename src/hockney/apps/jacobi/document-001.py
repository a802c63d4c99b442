"""The model of document 001, exercise 3.

P = L³N / (T_s + T_c), T_c = C/B + 4kλ, C = L² · k · 2 · 2 · 8 bytes, k the directions with more than one process.
The bytes are those of document 000; of latencies there are twice as many.
"""

from __future__ import annotations

from hockney.apps.jacobi.printed import Case, Halo, Model, jacobi_models
from hockney.apps.stencil.grids import Grid


def halo(case: Case, grid: Grid) -> Halo:
    """For each direction four messages, in and out on both sides, of L² doubles."""
    k = grid.directions
    size_B = case.subdomain**2 * k * 2 * 2 * 8
    return Halo(k, size_B, size_B / case.bandwidth_B_per_s + 4 * k * case.latency_s)


jacobi_models.register("document-001")(
    Model(
        "P = L³N / (T_s + T_c), T_c = C/B + 4·k·λ, C = 32·k·L² B, k = directions with more than one process", halo
    )
)
