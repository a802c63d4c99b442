"""document-001: the bytes of document-000, twice its latencies. The document prints no numbers of its own."""

from __future__ import annotations

import pytest

from hockney.apps.jacobi.printed import Case, jacobi_models, predict
from hockney.apps.stencil.grids import Grid

MODEL = jacobi_models.get("document-001")
GRIDS = [Grid(1, 1, 1), Grid(1, 4, 1), Grid(2, 1, 2), Grid(4, 3, 2)]


@pytest.mark.parametrize(("grid", "k"), list(zip(GRIDS, [0, 1, 2, 3], strict=True)))
def test_the_equations_by_hand(grid: Grid, k: int) -> None:
    # L = 100: C = 32 k · 10⁴ B; at 1 GB/s 0.32 ms for each direction, and four latencies of 10 µs.
    one = predict(MODEL, Case(100, 0.01, 10e-6, 1e9), grid)
    assert (one.k, one.halo_B) == (k, 320_000 * k)
    assert one.communication_s == pytest.approx(k * (0.32e-3 + 40e-6))
    assert one.mlups == pytest.approx(grid.ranks / (0.01 + k * 0.36e-3))


@pytest.mark.parametrize("grid", GRIDS[1:])
def test_two_latencies_more_for_each_direction_than_document_000(grid: Grid) -> None:
    case = Case(1200, 15.3276, 1e-3, 12185e6)
    of_000 = predict(jacobi_models.get("document-000"), case, grid)
    of_001 = predict(MODEL, case, grid)
    assert of_001.halo_B == of_000.halo_B
    assert of_001.communication_s - of_000.communication_s == pytest.approx(2e-3 * grid.directions)
