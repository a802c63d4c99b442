"""Space-filling curves by what defines them."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.network.traffic.curves import order


def points(shape: tuple[int, ...], curve: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    found = order(shape, curve)
    assert sorted(found.tolist()) == list(range(int(np.prod(shape))))
    return np.stack(np.unravel_index(found, shape)).T


@pytest.mark.parametrize("shape", [(2, 2), (8, 8), (4, 4, 4), (8, 8, 8), (4, 4, 4, 4)])
def test_hilberts_curve_goes_from_neighbour_to_neighbour(shape: tuple[int, ...]) -> None:
    assert set(np.abs(np.diff(points(shape, "hilbert"), axis=0)).sum(axis=1).tolist()) == {1}


@pytest.mark.parametrize("curve", ["hilbert", "morton"])
def test_a_curve_fills_one_half_cube_after_another(curve: str) -> None:
    # Every aligned eighth of the way is one small cube.
    eighths = points((8, 8, 8), curve).reshape(8, 64, 3)
    assert all(len(set(map(tuple, (part // 4).tolist()))) == 1 for part in eighths)


def test_mortons_curve_interleaves_bits() -> None:
    assert points((2, 4), "morton").tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [0, 3], [1, 2], [1, 3]]


@pytest.mark.parametrize("shape", [(3, 5), (6, 1, 2), (7,), (1, 1)])
def test_any_grid_is_covered_once(shape: tuple[int, ...]) -> None:
    for curve in ("hilbert", "morton"):
        points(shape, curve)
