"""Process grids: how ranks are laid out along the three directions of space."""

from __future__ import annotations

from hockney.errors import RequestError
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


def parse_grid(text: str) -> Grid:
    """`4x3x2` → Grid(4, 3, 2). RequestError for anything else, and for a direction without processes."""
    example = "4x3x2: processes along x, y and z"
    found = parse_extents(
        text, "a process grid", "processes", dimensions=(3,), at_most=MOST_ALONG, example=example
    )
    return Grid(*found)


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


def _divisors(number: int) -> list[int]:
    """In ascending order."""
    small = [one for one in range(1, int(number**0.5) + 1) if number % one == 0]
    return small + [number // one for one in reversed(small) if one * one != number]
