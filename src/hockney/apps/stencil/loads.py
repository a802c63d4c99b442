"""How many elements of a matrix each process of a grid gets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

from hockney.apps.stencil.grids import Grid, factorisations
from hockney.errors import RequestError
from hockney.units import Extents, counted, grouped

Split = Literal["balanced", "cartesian", "blocks"]
"""`balanced`: all elements over all processes, the rest to the first. `cartesian`: as many
as the process has in each direction, in contiguous pieces. `blocks`: as many, and those elements."""
SPLITS: tuple[str, ...] = get_args(Split)
MOST_ELEMENTS = 2**31 - 1
"""Of a matrix: MPI counts elements and displacements in ints."""


def check(size: Extents, grid: Grid, split: str) -> None:
    """RequestError where a size is not positive, MPI cannot count the elements, or a process would get none."""
    _check_size(size)
    if split not in SPLITS:
        raise RequestError(f"unknown split {split!r}", f"known: {', '.join(SPLITS)}")
    if not _fits(size, grid, split):
        ranks = counted(grid.ranks, "process", plural="processes") if split == "balanced" else f"grid {grid}"
        what = f"the {size.product} elements" if split == "balanced" else f"a matrix of {size} by {split}"
        raise RequestError(f"{ranks} cannot share {what}: some would get nothing", "ask for fewer ranks")


def _check_size(size: Extents) -> None:
    if min(size) < 1:
        raise RequestError(f"a matrix of {size} has no elements", "sizes are 1 or more, such as 2400 100 100")
    if size.product > MOST_ELEMENTS:
        raise RequestError(
            f"a matrix of {size} has more elements than MPI counts at once ({MOST_ELEMENTS})",
            "ask for fewer elements",
        )


def _fits(size: Extents, grid: Grid, split: str) -> bool:
    if split == "balanced":
        return grid.ranks <= size.product
    return grid.fits(size)


def usual_grid(size: Extents, ranks: int, split: str) -> Grid:
    """Of the grids that fit, one with directions as alike as possible, longest first; RequestError without.

    That is what MPI_Dims_create aims at.
    """
    _check_size(size)
    fitting = [grid for grid in factorisations(ranks) if _fits(size, grid, split)]
    if not fitting:
        raise RequestError(f"no grid of {ranks} processes fits a matrix of {size}", "ask for fewer ranks")
    return min(fitting, key=lambda grid: (max(grid) - min(grid), [-count for count in grid]))


def loads(size: Extents, grid: Grid, split: str) -> list[int]:
    """Elements of each rank. RequestError as `check`. Rank (p_x·P_y + p_y)·P_z + p_z is the process at p."""
    check(size, grid, split)
    if split == "balanced":
        return _shares(size.product, grid.ranks)
    along = [_shares(cells, processes) for cells, processes in zip(size, grid, strict=True)]
    return [math.prod((x, y, z)) for x in along[0] for y in along[1] for z in along[2]]


def _shares(items: int, parts: int) -> list[int]:
    """The rest goes to the first."""
    each, rest = divmod(items, parts)
    return [each + (part < rest) for part in range(parts)]


def as_lines(of_ranks: Sequence[int]) -> list[str]:
    """Lines `P. 0-23: 1000000`, or for each load its ranks, `P. 0,3,6: 1020000`."""
    if len(set(of_ranks)) == 1:
        last = len(of_ranks) - 1
        return [f"P. 0-{last}: {of_ranks[0]}" if last else f"P. 0: {of_ranks[0]}"]
    ranks = grouped(range(len(of_ranks)), of_ranks.__getitem__)
    return [f"P. {','.join(map(str, of_it))}: {load}" for load, of_it in ranks.items()]
