"""Boxes that tile a grid, and grids folded onto tori."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hockney.network.traffic.boxes import boxes, fold


def cut(grid: tuple[int, ...], box: tuple[int, ...]) -> int:
    """Pairs of neighbours in different boxes, counted one by one."""
    points = list(itertools.product(*map(range, grid)))
    count = 0
    for point in points:
        for axis in range(len(grid)):
            if point[axis] + 1 < grid[axis]:
                count += (point[axis] + 1) // box[axis] != point[axis] // box[axis]
    return count


@pytest.mark.parametrize(("grid", "volume"), [((8, 8, 4), 4), ((6, 4), 6), ((4, 4, 4), 8), ((2, 12), 4)])
def test_the_first_box_cuts_the_fewest_neighbours(grid: tuple[int, ...], volume: int) -> None:
    found = boxes(grid, volume)
    counts = [cut(grid, box) for box in found]
    assert counts == sorted(counts)
    assert all(np.prod(box) == volume for box in found)


def test_no_box_where_sizes_do_not_divide() -> None:
    assert boxes((4, 4), 3) == []


@pytest.mark.parametrize(
    ("grid", "shape"),
    [
        ((8, 8, 4), (4, 8, 8)),
        ((4, 6), (6, 4)),
        ((64,), (4, 4, 4)),
        ((16, 4), (4, 4, 4)),
        ((8, 4), (2, 2, 2, 2, 2)),
    ],
)
def test_a_fold_keeps_neighbours_neighbours(grid: tuple[int, ...], shape: tuple[int, ...]) -> None:
    around = np.array(shape)[:, None]
    longest = []
    for at in fold(grid, shape):
        assert len({tuple(point) for point in at.T.tolist()}) == np.prod(shape)
        apart = []
        number = np.arange(np.prod(grid)).reshape(grid)
        for axis in range(len(grid)):
            one, other = (at[:, np.delete(number, end, axis).ravel()] for end in (-1, 0))
            straight = np.abs(one - other)
            apart.append(np.minimum(straight, around - straight).sum(axis=0).max())
        longest.append(max(apart))
    assert min(longest) == 1


def test_a_grid_of_more_dimensions_is_joined() -> None:
    # 4×2×3 on 4×6: every point once.
    found = list(fold((4, 2, 3), (4, 6)))
    assert found
    for at in found:
        assert len({tuple(point) for point in at.T.tolist()}) == 24


def test_extents_that_do_not_match() -> None:
    assert list(fold((8, 8), (4, 15))) == []
    assert list(fold((6, 6), (4, 9))) == []
