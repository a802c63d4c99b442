"""What Jacobi and conjugate gradients are asked alike: cells, ranks, exchanges, of runs and of predictions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.apps.repetitions import Repetitions, repetitions
from hockney.apps.stencil.grids import (
    Grid,
    check_ranks,
    expect_all_alone,
    factorisations,
    parse_grid,
    smallest_surface,
)
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.predict.options import MessageCosts
from hockney.runner.inventory import inventory
from hockney.units import Extents, listed, parse_extents, parse_time, wholes

Exchange = Literal["sendrecv", "nonblocking", "overlap", "persistent", "neighborhood"]
EXCHANGES: tuple[Exchange, ...] = get_args(Exchange)
Variant = Literal["reference", "fused", "joint", "single_sweep", "pipelined"]
"""Formulations of conjugate gradients (docs/reference/cg.md)."""
VARIANTS: tuple[Variant, ...] = get_args(Variant)
SUMS = "recursive_doubling"
"""The schedule that a sum over all ranks is taken for."""
ABOUT_PREDICTION = (
    "only communication is predicted, simulated with the measured messages between two ranks. The time of a "
    "cell, and packing where it is measured, are those of each run. On one rank there is nothing to predict."
)
Parameters = dict[str, int | float | str]
"""The keys of a request."""

MOST_CELLS = 10**6
"""Along one direction."""
MOST_RANKS = 10**6
parse_ranks = partial(wholes, allowed=range(1, MOST_RANKS + 1))


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


Halo = Annotated[Exchange, Option(f"How faces are exchanged: {listed(EXCHANGES)}.", flags=("--exchange",))]
Subdomain = Annotated[
    int | None, Option("Cells along each side of the cube that each rank has."), Field(ge=1, le=MOST_CELLS)
]


class StencilStudy(BaseModel):
    """Runs on several numbers of ranks and several process grids of each.

    A number of ranks that none of `grids` has takes the grid that cuts through the fewest cells, or every one
    that fits. `cell_s`: seconds that a simulated host takes for a cell in an iteration.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ranks: Annotated[
        tuple[int, ...],
        Option(
            "Numbers of ranks, such as 1,2,4 or several. [default: the cores of this host]",
            read=parse_ranks,
            commas=True,
        ),
    ] = ()
    grids: Annotated[
        tuple[Grid | Literal["all"], ...],
        Option(
            "Processes along x, y and z, such as 4x3x2, or all (repeatable). [default: the smallest surface]",
            flags=("--grid",),
            read=lambda text: "all" if text == "all" else parse_grid(text),
            repeat=True,
            commas=True,
            show=None,
        ),
    ] = ()
    halo: Halo = "nonblocking"
    compute: Annotated[bool, Option("Leave out the arithmetic on a simulated cluster, not its time.")] = True
    cell_s: Annotated[
        float,
        Option(
            "Time of a cell on a simulated host, such as 1ns.",
            flags=("--cell-time",),
            read=parse_time,
            show=None,
        ),
        Field(ge=0, allow_inf_nan=False),
    ] = 0.0
    repetitions: Repetitions = None

    @model_validator(mode="before")
    @classmethod
    def _with_ranks(cls, given: Any) -> Any:
        """Those of the grids, or the cores of this host."""
        if given.get("ranks"):
            return given
        named = {grid.ranks for grid in given.get("grids") or () if grid != "all"}
        return {**given, "ranks": tuple(sorted(named)) or (inventory().cores,)}

    @model_validator(mode="after")
    def _has_the_ranks_of_its_grids(self) -> Self:
        expect_all_alone(self.grids)
        for grid in self._named:
            check_ranks(grid, self.ranks)
        return self

    @property
    def _named(self) -> list[Grid]:
        return [grid for grid in self.grids if grid != "all"]

    def requests(self, *, is_simulated: bool) -> Iterator[tuple[int, Parameters]]:
        """Every run as its ranks and request; on simulated hosts nothing can bound the bandwidth.

        RequestError for cells that do not fit.
        """
        raise NotImplementedError

    def grids_on(self, ranks: int, cells: Extents | None) -> list[Grid]:
        """The process grids of one size (None: each rank has the same cube) on so many ranks.

        RequestError where one that was named, or all that there are, have more processes than cells.
        """
        named = [grid for grid in self._named if grid.ranks == ranks]
        if not named and "all" not in self.grids:
            return [smallest_surface(ranks, cells)]
        fitting = [grid for grid in named or factorisations(ranks) if grid.fits(cells)]
        if len(fitting) < len(named) or not fitting:
            raise RequestError(
                f"grid {next((grid for grid in named if grid not in fitting), ranks)} has more processes than "
                f"{cells} has cells along a direction",
                "take more cells, fewer ranks or another grid",
            )
        return fitting

    def parameters_on(self, cells: Extents, grid: Grid) -> Parameters:
        """The keys of a request that both programs take."""
        return {
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
            **dict(zip(("px", "py", "pz"), grid, strict=True)),
            "halo": self.halo,
            "faces": "packed",
            "compute": int(self.compute),
            "cell_s": self.cell_s,
            **repetitions(self.repetitions),
        }


class StencilCase(MessageCosts):
    """What is predicted; `cells` and `formulation` become options where each verb says how."""

    operation: str = ""
    cells: Extents | None = None
    formulation: Variant | None = None
    subdomain: Subdomain = None
    grids: Annotated[
        list[str],
        Option("Processes along x, y and z, such as 4x3x2, several, or all with --ranks.", flags=("--grid",)),
    ] = Field(default_factory=list)
    ranks: Annotated[list[int], Option("Numbers of ranks, such as 48 or 1,2,4.", read=parse_ranks)] = Field(
        default_factory=list
    )
    halo: Halo = "nonblocking"
    iterations: int = 10
    """Consecutive ones, whose mean is the time."""
    cell_s: Annotated[float | None, Option(flags=("--cell-time",), read=parse_time), Field(gt=0)] = None
    runs: Annotated[
        Path | None,
        Option(
            "Folder of `hockney run` that says what a cell takes and calibrates communication.",
            flags=("--table",),
        ),
    ] = None
