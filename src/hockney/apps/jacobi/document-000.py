"""The model of document 000, section 3, equations (14) to (16), as its tables use it.

P = L³N / (T_s + T_c), T_c = c/B + k T_ℓ, c = L² · k · 2 · 8 bytes. The text calls k the number of directions with
more than one process; tables VI to XI print and use twice that: both sides of each.
"""

from __future__ import annotations

from hockney.apps.jacobi.printed import Case, Halo, Model, jacobi_models
from hockney.apps.stencil.grids import Grid


def halo(case: Case, grid: Grid) -> Halo:
    """k: messages of a rank with neighbours on every side; for each, two faces of L² doubles."""
    k = 2 * grid.directions
    size_B = case.subdomain**2 * k * 2 * 8
    return Halo(k, size_B, size_B / case.bandwidth_B_per_s + k * case.latency_s)


jacobi_models.register("document-000")(
    Model(
        "P = L³N / (T_s + T_c), T_c = c/B + k·λ, c = 16·k·L² B, k = 2 × directions with more than one process",
        halo,
    )
)
