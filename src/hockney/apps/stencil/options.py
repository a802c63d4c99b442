"""What Jacobi and conjugate gradients are asked alike: cells, ranks, and how faces are sent."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.apps.launched import Repetitions, repetitions
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.stencil import Exchange
from hockney.errors import RequestError
from hockney.options import Option
from hockney.runner.inventory import inventory
from hockney.units import Extents, parse_extents, parse_time

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


class StencilStudy(BaseModel):
    """Runs on several numbers of ranks; without a `grid` each program says which it takes.

    `cell_s`: seconds that a simulated host takes for a cell in an iteration.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ranks: Annotated[
        tuple[int, ...],
        Option("4, or 1,2,4 in one launch. [default: the cores of this host]", read=parse_ranks),
    ] = ()
    grid: Grid | None = None
    halo: Annotated[Exchange, Option("sendrecv, nonblocking, overlap, persistent or neighborhood.")] = (
        "nonblocking"
    )
    faces: Annotated[Faces, Option("datatype or packed.")] = "packed"
    compute: Annotated[
        bool, Option("On a simulated cluster --no-compute leaves out the arithmetic, not its time.")
    ] = True
    cell_s: Annotated[
        float,
        Option(
            "Time of a cell in an iteration on a host of a simulated cluster, such as 1ns.",
            flags=("--cell-time",),
            read=parse_time,
            show=None,
        ),
        Field(ge=0, allow_inf_nan=False),
    ] = 0.0
    repetitions: Repetitions = None

    @model_validator(mode="before")
    @classmethod
    def _with_ranks(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Those of the grid, or the cores of this host."""
        if given.get("ranks"):
            return given
        grid = given.get("grid")
        return {**given, "ranks": (grid.ranks,) if isinstance(grid, Grid) else (inventory().cores,)}

    @model_validator(mode="after")
    def _has_the_ranks_of_its_grid(self) -> Self:
        if self.grid is not None and {self.grid.ranks} != set(self.ranks):
            raise RequestError(
                f"grid {self.grid} has {self.grid.ranks} processes, not {', '.join(map(str, self.ranks))}",
                f"--ranks {self.grid.ranks}, or leave out --grid",
            )
        return self

    def parameters_on(self, cells: Extents, grid: Grid) -> dict[str, Any]:
        """The keys of a request that both programs take."""
        return {
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
            **dict(zip(("px", "py", "pz"), grid, strict=True)),
            "halo": self.halo,
            "faces": self.faces,
            "compute": int(self.compute),
            "cell_s": self.cell_s,
            **repetitions(self.repetitions),
        }
