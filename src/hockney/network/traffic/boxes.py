"""Boxes of a grid: which block of ranks shares a node or a switch, and how a grid folds onto a torus."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def boxes(grid: Sequence[int], volume: int) -> list[tuple[int, ...]]:
    """Boxes of `volume` points that tile `grid`, those that cut the fewest pairs of neighbours first."""
    sides = [[side for side in range(1, extent + 1) if extent % side == 0] for extent in grid]
    tiling = [box for box in itertools.product(*sides) if math.prod(box) == volume]
    # In each dimension 1/side of the points lie at the end of a box.
    return sorted(tiling, key=lambda box: sum(1 / side for side in box))


def box_of(points: Ints, grid: Sequence[int], box: Sequence[int]) -> tuple[Ints, tuple[int, ...]]:
    """Coordinates (dimensions, n) of the boxes that points lie in, and the grid of boxes."""
    sides = np.array(box)[:, None]
    return points // sides, tuple(extent // side for extent, side in zip(grid, box, strict=True))


def fold(grid: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[Ints]:
    """Coordinates (torus dimensions, points by rows) of a grid's points on a torus, for each match of extents.

    Either every torus dimension takes several of the grid's dimensions, or every dimension of the grid goes back
    and forth through several of the torus's. The points of `shape` are all taken once.
    """
    long = tuple(extent for extent in grid if extent > 1)
    around = [axis for axis, extent in enumerate(shape) if extent > 1]
    points = np.stack(np.unravel_index(np.arange(math.prod(grid)), long or (1,)))
    for groups in _groups(long, [shape[axis] for axis in around]):
        at = np.zeros((len(shape), points.shape[1]), np.int64)
        for axis, group in zip(around, groups, strict=True):
            at[axis] = _together(points[list(group)], [long[number] for number in group])
        yield at
    for groups in _groups([shape[axis] for axis in around], long):
        at = np.zeros((len(shape), points.shape[1]), np.int64)
        for coordinate, group in zip(points, groups, strict=False):
            axes = [around[number] for number in group]
            at[axes] = _apart(coordinate, [shape[axis] for axis in axes])
        yield at


def _groups(parts: Sequence[int], wholes: Sequence[int]) -> Iterator[list[list[int]]]:
    """Each of `parts` given to one of `wholes` so that products match: for each whole the parts, in order."""

    def give(number: int, left: list[int], groups: list[list[int]]) -> Iterator[list[list[int]]]:
        if number == len(parts):
            if all(factor == 1 for factor in left):
                yield [list(group) for group in groups]
            return
        for to, factor in enumerate(left):
            if factor % parts[number] == 0:
                left[to] //= parts[number]
                groups[to].append(number)
                yield from give(number + 1, left, groups)
                groups[to].pop()
                left[to] = factor

    yield from give(0, list(wholes), [[] for _ in wholes])


def _together(digits: Ints, extents: Sequence[int]) -> Ints:
    """One coordinate of several: every second block runs backward, from where the last ends."""
    value = np.zeros(digits.shape[1], np.int64)
    for digit, extent in zip(digits, extents, strict=True):
        value = value * extent + np.where(value % 2 == 0, digit, extent - 1 - digit)
    return value


def _apart(value: Ints, extents: Sequence[int]) -> Ints:
    """Several coordinates of one, of which a step changes one by one: the inverse of `_together`."""
    digits = []
    for done in range(len(extents)):
        rest = math.prod(extents[done + 1 :])
        before, digit = value // rest // extents[done], value // rest % extents[done]
        digits.append(np.where(before % 2 == 0, digit, extents[done] - 1 - digit))
    return np.stack(digits)
