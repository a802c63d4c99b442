"""A size that fits a machine where the one that is asked for does not."""

from __future__ import annotations

import math
from collections.abc import Callable

from hockney.runner.session import Refused
from hockney.units import Extents

MEMORY_SHARE = 0.8
"""Of the free memory that a run may take: beyond it the runner refuses (cpp/runner/point.hpp)."""
ROUND = 10
"""Sides are rounded down to multiples of it where they are longer."""


def scaled(cells: Extents, share: float) -> Extents:
    """The box of the same shape with that share of the cells at most, or itself; a plane stays one."""
    if share >= 1:
        return cells
    factor = share ** (1 / (sum(side > 1 for side in cells) or 1))
    return Extents(*(_rounded(side * factor) if side > 1 else 1 for side in cells))


def _rounded(side: float) -> int:
    whole = max(1, math.floor(side))
    return whole - whole % ROUND if whole > ROUND else whole


def proposing(error: Refused, cells: Extents, option: Callable[[Extents], str]) -> Refused:
    """The same refusal, with the size that fits as its hint where memory is what lacks."""
    if not error.needed_B or error.available_B is None:
        # An answer that does not say what is needed has zero.
        return error
    fits = scaled(cells, MEMORY_SHARE * error.available_B / error.needed_B)
    return Refused(error.message, f"{option(fits)} fits", error.needed_B, error.available_B)
