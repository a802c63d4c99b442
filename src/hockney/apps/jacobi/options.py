"""Jacobi in three dimensions: what may be asked for, checked before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.apps.launched import Launched, Repetitions, repetitions
from hockney.apps.stencil.grids import Grid, factorisations, parse_grid
from hockney.apps.stencil.options import MOST_CELLS, Faces, parse_cells, parse_ranks
from hockney.apps.stencil.stencil import Exchange
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.options import Option
from hockney.records.app_record import AppRecord
from hockney.runner.inventory import inventory
from hockney.units import Extents, parse_time

Stores = Literal["auto", "regular", "non_temporal"]
Instructions = Literal["auto", "avx512", "avx2", "portable"]

USUAL_CELLS = "200"


def smallest_surface(ranks: int, cells: Extents | None) -> Grid:
    """The grid that cuts through the fewest cells; of a cube for each rank (None) the whole nearest to a cube.

    Ties cut z, then y, then x. RequestError where no grid has a cell for each of its processes.
    """

    def surface(grid: Grid) -> int:
        if cells is None:
            return grid.x * grid.y + grid.y * grid.z + grid.x * grid.z
        x, y, z = cells
        return (grid.x - 1) * y * z + (grid.y - 1) * x * z + (grid.z - 1) * x * y

    fitting = [
        grid
        for grid in factorisations(ranks)
        if cells is None or all(p <= n for p, n in zip(grid, cells, strict=True))
    ]
    if not fitting:
        raise RequestError(
            f"no grid of {ranks} processes has a cell of {cells} for each of them along every direction",
            "take more cells or fewer ranks",
        )
    return min(fitting, key=lambda grid: (surface(grid), grid.x, grid.y))


class JacobiStudy(BaseModel):
    """A study: the same box on several numbers of ranks (`cells`), or the same cube on each rank (`subdomain`).

    `block_rows` None lets the caches decide; `cell_s` are seconds that a simulated host takes for an update.
    Without a `grid`, that of a number of ranks is in `grids`, or cuts through the fewest cells.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cells: Annotated[
        Extents | None,
        Option(
            "Of the whole box: 400 for a cube, 2000x2000x64. The same on any number of ranks. "
            f"[default: {USUAL_CELLS}]",
            read=parse_cells,
        ),
    ] = None
    subdomain: Annotated[
        int | None, Option("Side of the cube that each rank has: weak scaling."), Field(ge=1)
    ] = None
    ranks: Annotated[
        tuple[int, ...],
        Option("4, or 1,2,4 in one launch. [default: the cores of this host]", read=parse_ranks),
    ] = ()
    grid: Annotated[
        Grid | None,
        Option("PXxPYxPZ. [default: the one that cuts through the fewest cells]", read=parse_grid),
    ] = None
    halo: Annotated[Exchange, Option("sendrecv, nonblocking, overlap, persistent or neighborhood.")] = (
        "nonblocking"
    )
    faces: Annotated[Faces, Option("datatype or packed.")] = "packed"
    iterations: Annotated[int, Option("Sweeps of a repetition."), Field(ge=1)] = 10
    threads: Annotated[int, Option("OpenMP threads of each rank."), Field(ge=1, le=4096)] = 1
    block_rows: Annotated[
        int | None,
        Option("Rows of a block along y. [default: what the caches keep]", flags=("--block",)),
        Field(ge=1),
    ] = None
    stores: Annotated[Stores, Option("auto, regular or non_temporal.")] = "auto"
    instructions: Annotated[Instructions, Option("auto, avx512, avx2 or portable.")] = "auto"
    bound: Annotated[bool, Option("Measure, in turns with the sweeps, the bandwidth that bounds them.")] = True
    compute: Annotated[
        bool, Option("On a simulated cluster --no-compute leaves out the arithmetic, not its time.")
    ] = True
    cell_s: Annotated[
        float,
        Option(
            "What an update takes on a host of a simulated cluster: 1ns.",
            flags=("--cell-time",),
            read=parse_time,
            show=None,
        ),
        Field(ge=0, allow_inf_nan=False),
    ] = 0.0
    repetitions: Repetitions = None
    grids: Mapping[int, Grid] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What is not asked for follows from what is, or from this host."""
        grid = given.get("grid")
        ranks = given.get("ranks") or ((grid.ranks,) if grid else (inventory().cores,))
        if given.get("cells") is None and given.get("subdomain") is None:
            given = {**given, "cells": parse_cells(USUAL_CELLS)}
        return {**given, "ranks": ranks}

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        """RequestError for what no launch could do."""
        if self.cells is not None and self.subdomain is not None:
            raise RequestError(
                "give the size either as --cells or as --subdomain",
                "--cells 400 for the same box on any number of ranks, --subdomain 200 for a cube on each rank",
            )
        if self.grid is not None and {self.grid.ranks} != set(self.ranks):
            raise RequestError(
                f"grid {self.grid} has {self.grid.ranks} processes, not {', '.join(map(str, self.ranks))}",
                f"--ranks {self.grid.ranks}, or leave out --grid",
            )
        if not self.compute and self.faces != "packed":
            raise RequestError("without computing there are no fields to send from", "--faces packed")
        for ranks in self.ranks:
            self.problem(ranks)
        return self

    @property
    def scaling(self) -> str:
        """`strong` where the box is the same on any number of ranks, `weak` where each rank's cube is."""
        return "strong" if self.cells else "weak"

    def problem(self, ranks: int) -> tuple[Extents, Grid]:
        """The whole box and the process grid for so many ranks; RequestError where they do not fit."""
        grid = self.grid or self.grids.get(ranks) or smallest_surface(ranks, self.cells)
        cells = self.cells or Extents(*((self.subdomain or 0) * count for count in grid))
        for direction, p, n in zip("xyz", grid, cells, strict=True):
            if p > n:
                raise RequestError(
                    f"grid {grid} has more processes ({p}) than cells ({n}) along {direction}",
                    "take more cells or another grid",
                )
        if max(cells) > MOST_CELLS:
            raise RequestError(f"there are at most {MOST_CELLS} cells along a direction, not {max(cells)}", "")
        return cells, grid

    def parameters(self, ranks: int, is_simulated: bool) -> dict[str, Any]:
        """The keys of the program's request. On simulated hosts nothing can bound the bandwidth."""
        cells, grid = self.problem(ranks)
        return {
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
            **dict(zip(("px", "py", "pz"), grid, strict=True)),
            "halo": self.halo,
            "faces": self.faces,
            "iterations": self.iterations,
            "threads": self.threads,
            "instructions": self.instructions,
            "stores": self.stores,
            "block_rows": self.block_rows or 0,
            "bound": int(self.bound and self.compute and not is_simulated),
            "compute": int(self.compute),
            "cell_s": self.cell_s,
            **repetitions(self.repetitions),
        }

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """One run for each number of ranks."""
        is_simulated = launched.placement[0].simulated
        for ranks in self.ranks:
            yield launched.request("jacobi", self.parameters(ranks, is_simulated), ranks)
