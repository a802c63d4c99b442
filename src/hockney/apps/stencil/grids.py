"""Process grids: how ranks are laid out along the three directions of space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import PlainSerializer

from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.units import Extents, parse_extents

MOST_ALONG = 10**9
"""Processes along one direction."""
MOST_FACTORISED = 10**7
"""Ranks whose grids are all listed: of numbers up to here none has more than 22,680."""


class Grid(Extents):
    """Processes along x, y and z."""

    @property
    def ranks(self) -> int:
        """Processes in all."""
        return self.product

    @property
    def directions(self) -> int:
        """Directions with more than one process, 0 to 3: those in which halos are exchanged."""
        return sum(count > 1 for count in self)

    def times(self, side: int) -> Extents:
        """The whole box of which each process has a cube."""
        return Extents(*(side * count for count in self))

    def fits(self, cells: Extents | None) -> bool:
        """Whether each process has a cell along every direction; always where nothing says the cells."""
        return cells is None or all(count <= along for count, along in zip(self, cells, strict=True))


GridText = Annotated[Grid, PlainSerializer(str, return_type=str)]
"""In JSON `4x3x2`."""


def cells_of(record: AppRecord) -> Extents:
    """Cells, elements or unknowns of a run along x, y and z; KeyError or ValueError where it says none."""
    return Extents(*(int(record.parameters[f"n{axis}"]) for axis in "xyz"))


def grid_of(record: AppRecord) -> Grid:
    """Its processes; KeyError or ValueError likewise."""
    return Grid(*(int(record.parameters[f"p{axis}"]) for axis in "xyz"))


def box_of_each(record: AppRecord) -> Extents | None:
    """Cells of each rank of a run, where all have the same."""
    each = [divmod(n, p) for n, p in zip(cells_of(record), grid_of(record), strict=True)]
    return None if any(rest for _, rest in each) else Extents(*(whole for whole, _ in each))


def parse_grid(text: str) -> Grid:
    """`4x3x2` → Grid(4, 3, 2), `4x3` → Grid(4, 3, 1).

    RequestError for anything else, and for a direction without processes.
    """
    example = "4x3x2: processes along x, y and z"
    x, y, *z = parse_extents(
        text, "a process grid", "processes", dimensions=(2, 3), at_most=MOST_ALONG, example=example
    )
    return Grid(x, y, *(z or [1]))


def parse_grids(texts: Sequence[str], ranks: Sequence[int]) -> list[Grid]:
    """The grids of `--grid`, each once; `all`, or none with `ranks`, are those of each number of ranks.

    RequestError for a grid of another number of ranks than `ranks`, if there are any.
    """
    if not texts and not ranks:
        raise RequestError("no grid is given", "give --grid 4x3x2, or --ranks 24 --grid all")
    expect_all_alone(texts)
    if "all" in texts or not texts:
        if not ranks:
            raise RequestError("--grid all needs --ranks", "for example --ranks 48")
        return [grid for count in ranks for grid in factorisations(count)]
    grids = list(dict.fromkeys(parse_grid(text) for text in texts))
    for grid in grids if ranks else ():
        check_ranks(grid, ranks)
    return grids


def expect_all_alone(grids: Sequence[object]) -> None:
    """RequestError where `all` stands beside others."""
    if "all" in grids and len(grids) > 1:
        raise RequestError("--grid all holds every other grid", "leave the others out")


def check_ranks(grid: Grid, ranks: Sequence[int]) -> None:
    """RequestError for a grid of none of these numbers of processes."""
    if grid.ranks not in ranks:
        raise RequestError(
            f"grid {grid} has {grid.ranks} processes, not {' or '.join(map(str, ranks))}",
            f"--ranks {grid.ranks}, or leave out --ranks or --grid",
        )


def factorisations(ranks: int) -> list[Grid]:
    """Every grid of `ranks` processes, the longest along x first; directions count, so 2x1x1 is not 1x2x1.

    RequestError for fewer than one rank or more than MOST_FACTORISED.
    """
    if not 1 <= ranks <= MOST_FACTORISED:
        raise RequestError(
            f"grids are listed for 1 to {MOST_FACTORISED} ranks, not {ranks}", "name the grids, such as 4x3x2"
        )
    return [
        Grid(x, y, ranks // x // y) for x in reversed(_divisors(ranks)) for y in reversed(_divisors(ranks // x))
    ]


def smallest_surface(ranks: int, cells: Extents | None) -> Grid:
    """The grid that cuts through the fewest cells; of a cube for each rank (None) the whole nearest to a cube.

    Ties cut z, then y, then x. RequestError where no grid has a cell for each of its processes.
    """

    def surface(grid: Grid) -> int:
        if cells is None:
            return grid.x * grid.y + grid.y * grid.z + grid.x * grid.z
        x, y, z = cells
        return (grid.x - 1) * y * z + (grid.y - 1) * x * z + (grid.z - 1) * x * y

    fitting = [grid for grid in factorisations(ranks) if grid.fits(cells)]
    if not fitting:
        raise RequestError(
            f"no grid of {ranks} processes has a cell of {cells} for each of them along every direction",
            "take more cells or fewer ranks",
        )
    return min(fitting, key=lambda grid: (surface(grid), grid.x, grid.y))


def _divisors(number: int) -> list[int]:
    """In ascending order."""
    small = [divisor for divisor in range(1, int(number**0.5) + 1) if number % divisor == 0]
    return small + [number // divisor for divisor in reversed(small) if divisor * divisor != number]
