"""What Jacobi and conjugate gradients are asked alike: cells, ranks and how faces are sent."""

from __future__ import annotations

import re
from typing import Literal

from hockney.errors import RequestError
from hockney.units import Extents, parse_extents

Faces = Literal["datatype", "packed"]

MOST_CELLS = 10**6
"""Along one direction."""
MOST_RANKS = 10**6


def parse_cells(text: str) -> Extents:
    """`400` → a cube, `2000x2000x64` → a box. RequestError for anything else and for directions without cells."""
    example = "400 for a cube or 2000x1000x64: cells along x, y and z"
    sides = parse_extents(
        text, "a number of cells", "cells", dimensions=(1, 3), at_most=MOST_CELLS, example=example
    )
    return Extents(*(sides * 3)[:3])


def parse_unknowns(text: str) -> tuple[int, Extents]:
    """`300x300` → (2, 300 × 300 × 1), `100x100x60` → (3, …): dimensions and unknowns; RequestError else."""
    example = "1000x1000 for two dimensions, 200x200x100 for three: unknowns along x, y and z"
    counts = parse_extents(
        text, "a grid of unknowns", "unknowns", dimensions=(2, 3), at_most=MOST_CELLS, example=example
    )
    return len(counts), Extents(*[*counts, 1][:3])


def parse_ranks(text: str) -> list[int]:
    """`1,2,4` → [1, 2, 4], at least one; RequestError for anything but positive whole numbers."""
    counts = []
    for word in text.split(","):
        if not re.fullmatch(r"\s*0*[1-9][0-9]{0,6}\s*", word):
            raise RequestError(f"{text!r} is not a list of ranks", "write 4 or 1,2,4")
        counts.append(int(word))
    if max(counts) > MOST_RANKS:
        raise RequestError(f"at most {MOST_RANKS} ranks are launched, not {max(counts)}", "write 4 or 1,2,4")
    return counts
