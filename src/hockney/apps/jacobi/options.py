"""Jacobi in three dimensions: what may be asked for, checked before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from hockney.apps.launched import Launched
from hockney.apps.stencil.fitting import proposing
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.options import MOST_CELLS, StencilStudy, parse_cells
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.records.app_record import AppRecord
from hockney.runner.session import Refused
from hockney.units import Extents
from hockney.words import listed

Stores = Literal["auto", "regular", "non_temporal"]
Instructions = Literal["auto", "avx512", "avx2", "portable"]

USUAL_CELLS = "200"


class JacobiStudy(StencilStudy):
    """A study: the same box on several numbers of ranks (`cells`), or the same cube on each rank (`subdomain`).

    `block_rows` None lets the caches decide. `chosen`: the grid of a number of ranks of which none is named.
    """

    cells: Annotated[
        Extents | None,
        Option(
            f"Cells: 400 is a cube; the same on any number of ranks. [default: {USUAL_CELLS}]",
            flags=("--size",),
            read=parse_cells,
        ),
    ] = None
    subdomain: Annotated[int | None, Option("Along each side of a cube: weak scaling."), Field(ge=1)] = None
    iterations: Annotated[int, Option("Sweeps of a repetition."), Field(ge=1)] = 10
    threads: Annotated[int, Option(), Field(ge=1, le=4096)] = 1
    block_rows: Annotated[
        int | None,
        Option("Rows of a block along y. [default: what the caches keep]", flags=("--block-rows",)),
        Field(ge=1),
    ] = None
    stores: Annotated[Stores, Option(f"{listed(get_args(Stores))}.")] = "auto"
    instructions: Annotated[Instructions, Option(f"{listed(get_args(Instructions))}.")] = "auto"
    bound: Annotated[bool, Option("In turns with the sweeps.")] = True
    chosen: Mapping[int, Grid] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _with_cells(cls, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("cells") is None and given.get("subdomain") is None:
            return {**given, "cells": parse_cells(USUAL_CELLS)}
        return given

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        """RequestError for what no launch could do."""
        if self.cells is not None and self.subdomain is not None:
            raise RequestError(
                "give the size either as --size or as --subdomain",
                "--size 400 for the same box on any number of ranks, --subdomain 200 for a cube on each rank",
            )
        if not self.compute and self.faces != "packed":
            raise RequestError("without computing there are no fields to send from", "--faces packed")
        self.problems()
        return self

    @property
    def scaling(self) -> str:
        """`strong` where the box is the same on any number of ranks, `weak` where each rank's cube is."""
        return "strong" if self.cells else "weak"

    def problems(self) -> list[tuple[int, Extents, Grid]]:
        """Every run as ranks, whole box and process grid; RequestError where they do not fit."""
        return [
            (ranks, self._whole(grid), grid)
            for ranks in self.ranks
            for grid in ([self.chosen[ranks]] if ranks in self.chosen else self.grids_on(ranks, self.cells))
        ]

    def _whole(self, grid: Grid) -> Extents:
        cells = self.cells or Extents(*((self.subdomain or 0) * count for count in grid))
        if max(cells) > MOST_CELLS:
            raise RequestError(f"there are at most {MOST_CELLS} cells along a direction, not {max(cells)}", "")
        return cells

    def parameters(self, cells: Extents, grid: Grid, is_simulated: bool) -> dict[str, Any]:
        """The keys of the program's request. On simulated hosts nothing can bound the bandwidth."""
        return {
            **self.parameters_on(cells, grid),
            "iterations": self.iterations,
            "threads": self.threads,
            "instructions": self.instructions,
            "stores": self.stores,
            "block_rows": self.block_rows or 0,
            "bound": int(self.bound and self.compute and not is_simulated),
        }

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """One run for each number of ranks and each of its grids."""
        is_simulated = launched.placement[0].simulated
        for ranks, cells, grid in self.problems():
            try:
                yield launched.request("jacobi", self.parameters(cells, grid, is_simulated), ranks)
            except Refused as error:
                raise proposing(error, cells, partial(self._sized, grid)) from error

    def _sized(self, grid: Grid, cells: Extents) -> str:
        """The option that asks for such a box, or for a cube on each rank within it."""
        if self.cells is not None:
            return f"--size {cells.x if len(set(cells)) == 1 else cells}"
        return f"--subdomain {max(1, min(side // along for side, along in zip(cells, grid, strict=True)))}"
