"""Process grids: how ranks are laid out along the three directions of space."""

from __future__ import annotations

import re
from typing import NamedTuple

from hockney.errors import RequestError

MOST_ALONG = 10**9
"""Processes along one direction."""
MOST_FACTORISED = 10**7
"""Ranks whose grids are all listed: of numbers up to here none has more than 22,680."""


class Grid(NamedTuple):
    """Processes along x, y and z."""

    x: int
    y: int
    z: int

    def __str__(self) -> str:
        return f"{self.x}x{self.y}x{self.z}"

    @property
    def ranks(self) -> int:
        """Processes in all."""
        return self.x * self.y * self.z

    @property
    def directions(self) -> int:
        """Directions with more than one process, 0 to 3: those in which halos are exchanged."""
        return sum(count > 1 for count in self)


def parse_grid(text: str) -> Grid:
    """`4x3x2` → Grid(4, 3, 2). RequestError for anything else, and for a direction without processes."""
    hint = "write for example 4x3x2: processes along x, y and z"
    if not re.fullmatch(r"\s*[0-9]+x[0-9]+x[0-9]+\s*", text):
        raise RequestError(f"{text!r} is not a process grid", hint)
    # Long rows of digits are refused before Python refuses to read them.
    digits = [count.lstrip("0") for count in text.strip().split("x")]
    if not all(digits):
        raise RequestError(f"grid {text.strip()} has a direction without processes", hint)
    if any(len(count) > len(str(MOST_ALONG)) or int(count) > MOST_ALONG for count in digits):
        raise RequestError(f"a grid has at most {MOST_ALONG} processes along a direction", hint)
    return Grid(*map(int, digits))


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
