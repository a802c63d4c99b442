"""A size, and a number of ranks, that fit a machine where those asked for do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from hockney.apps.stencil.stencil import CELL_B
from hockney.apps.stencil.ways import Variant
from hockney.runner.session import Refused
from hockney.units import Extents

MEMORY_SHARE = 0.8
"""Of the free memory that a run may take: beyond it the runner refuses (cpp/runner/point.hpp)."""
ROUND = 10
"""Sides are rounded down to multiples of it where they are longer."""


@dataclass(frozen=True)
class Fitting:
    """What fits: `cells` of the whole, on `ranks`."""

    cells: Extents
    ranks: int


def doubles_per_cell(program: str, variant: Variant = "single_sweep") -> int:
    """Vectors that the program keeps: Jacobi two fields, CG four vectors, or seven of `pipelined`."""
    return 2 if program == "jacobi" else 7 if variant == "pipelined" else 4


def that_fits(
    program: str, cells: Extents, ranks: int, memory_B: float, cores: int, variant: Variant = "single_sweep"
) -> Fitting:
    """The box of the same shape and the number of ranks that one host with so much free memory and cores holds.

    What fits already stays as it is. Halos, a per cent or two, are left to the share of memory that stays free.
    """
    needed_B = float(cells.product) * CELL_B * doubles_per_cell(program, variant)
    return Fitting(shrunk(cells, needed_B, memory_B), min(ranks, max(1, cores)))


def shrunk(cells: Extents, needed_B: float, free_B: float) -> Extents:
    """The box of the same shape that takes `MEMORY_SHARE` of what is free at most; a plane stays one."""
    if needed_B <= MEMORY_SHARE * free_B:
        return cells
    directions = sum(side > 1 for side in cells) or 1
    factor = (MEMORY_SHARE * free_B / needed_B) ** (1 / directions)
    return Extents(*(_rounded(side * factor) if side > 1 else 1 for side in cells))


def _rounded(side: float) -> int:
    whole = max(1, math.floor(side))
    return whole - whole % ROUND if whole > ROUND else whole


def proposing(error: Refused, cells: Extents, option: Callable[[Extents], str]) -> Refused:
    """The same refusal, with the size that fits as its hint where memory is what lacks."""
    if error.needed_B is None or error.available_B is None:
        return error
    fits = shrunk(cells, error.needed_B, error.available_B)
    return Refused(error.message, f"{option(fits)} fits", error.needed_B, error.available_B)
