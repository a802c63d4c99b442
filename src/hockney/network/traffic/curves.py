"""Space-filling curves: an order of the points of a grid in which neighbours stay near one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def morton(points: Ints, bits: int) -> Ints:
    """Keys (n,) of points (dimensions, n) below 2**bits: their bits interleaved, the first coordinate's first."""
    dimensions = len(points)
    key = np.zeros(points.shape[1], np.int64)
    for bit in range(bits):
        for axis, coordinate in enumerate(points):
            key |= (coordinate >> bit & 1) << (bit * dimensions + dimensions - 1 - axis)
    return key


def hilbert(points: Ints, bits: int) -> Ints:
    """Keys (n,) of points (dimensions, n) below 2**bits along Hilbert's curve (Skilling 2004)."""
    x = points.copy()
    for bit in range(bits - 1, 0, -1):
        low = (1 << bit) - 1
        for axis in range(len(x)):
            is_set = x[axis] >> bit & 1 == 1
            x[0] = np.where(is_set, x[0] ^ low, x[0])
            swapped = np.where(is_set, 0, (x[0] ^ x[axis]) & low)
            x[0] ^= swapped
            x[axis] ^= swapped
    for axis in range(1, len(x)):
        x[axis] ^= x[axis - 1]
    turned = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        turned = np.where(x[-1] >> bit & 1 == 1, turned ^ ((1 << bit) - 1), turned)
    return morton(x ^ turned, bits)


CURVES = {"morton": morton, "hilbert": hilbert}


def order(shape: tuple[int, ...], curve: str) -> Ints:
    """The points of a grid, by their number by rows, in the order of a curve through the cube around the grid."""
    long = tuple(extent for extent in shape if extent > 1)
    count = int(np.prod(shape))
    if len(long) < 2:
        return np.arange(count)
    points = np.stack(np.unravel_index(np.arange(count), long)).astype(np.int64)
    return np.argsort(CURVES[curve](points, int(max(long) - 1).bit_length()), kind="stable")
