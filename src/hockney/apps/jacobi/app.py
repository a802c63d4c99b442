"""Jacobi in three dimensions: what it is asked, and the words of its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hockney.apps.stencil.options import (
    ABOUT_PREDICTION,
    MOST_CELLS,
    Parameters,
    StencilCase,
    StencilStudy,
    Subdomain,
    parse_cells,
)
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Option, Without
from hockney.report.application import App, Question, apps
from hockney.units import Extents, parse_time

USUAL_CELLS = "200"


class JacobiStudy(StencilStudy):
    """A study: the same box on several numbers of ranks (`cells`), or the same cube on each rank (`subdomain`).

    `block_rows` None lets the caches decide.
    """

    cells: Annotated[
        Extents | None,
        Option(
            f"Cells of the whole box: 400 is a cube. [default: {USUAL_CELLS}]",
            flags=("--size",),
            read=parse_cells,
        ),
    ] = None
    subdomain: Subdomain = None
    iterations: Annotated[int, Option("Number of sweeps in a repetition."), Field(ge=1)] = 10
    threads: Annotated[int, Option(), Field(ge=1, le=4096)] = 1
    block_rows: int | None = Field(
        default=None, ge=1, description="of a block along y; none: what the caches keep"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_cells(cls, given: Any) -> Any:
        usual = {} if given.get("subdomain") else {"cells": parse_cells(USUAL_CELLS)}
        return {**usual, **{name: value for name, value in given.items() if value is not None}}

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        """RequestError for what no launch could do."""
        if self.cells is not None and self.subdomain is not None:
            raise RequestError(
                "give the size either as --size or as --subdomain",
                "--size 400 for the same box on any number of ranks, --subdomain 200 for a cube on each rank",
            )
        list(self.requests(is_simulated=True))
        return self

    @property
    def scaling(self) -> str:
        """`strong` where the box is the same on any number of ranks, `weak` where each rank's cube is."""
        return "strong" if self.cells else "weak"

    def requests(self, *, is_simulated: bool) -> Iterator[tuple[int, Parameters]]:
        """Each number of ranks on each of its grids."""
        own: Parameters = {
            "iterations": self.iterations,
            "threads": self.threads,
            "instructions": "auto",
            "stores": "auto",
            "block_rows": self.block_rows or 0,
            "bound": int(self.compute and not is_simulated),
        }
        for ranks in self.ranks:
            for grid in self.grids_on(ranks, self.cells):
                cells = self.cells or grid.times(self.subdomain or 0)
                if max(cells) > MOST_CELLS:
                    raise RequestError(
                        f"there are at most {MOST_CELLS} cells along a direction, not {max(cells)}", ""
                    )
                yield ranks, self.parameters_on(cells, grid) | own


EXAMPLE = (
    "hockney predict jacobi --serial-time 15.3276s --network 0.98us,12185MB/s --subdomain 1200 --grid 24x1x1"
)


class JacobiCase(StencilCase):
    """Which sweeps are predicted."""

    operation: str = "jacobi"
    cells: Annotated[
        Extents | None,
        Option(
            "Cells of the whole box: 400 is a cube, 2000x1000x64 a box.",
            flags=("--size",),
            read=parse_cells,
        ),
    ] = None
    serial_time_s: Annotated[
        float | None,
        Option(
            "What one rank takes for its subdomain alone: weak scaling by a formula.",
            flags=("--serial-time",),
            read=parse_time,
        ),
        Field(gt=0),
    ] = None


OF_FORMULA = ("serial_time_s", "network", "subdomain", "grids", "ranks")
"""Fields of a case that mean something for the formula."""


APP = App(
    name="jacobi",
    title="Jacobi",
    meaning="A 7-point Jacobi solver in three dimensions; a sweep exchanges halos and updates every cell once.",
    run=Question(
        "A 7-point Jacobi solver: halo exchange, lattice updates per second, and the bandwidth that bounds them.",
        "hockney run jacobi\n"
        "hockney run jacobi --size 400 --ranks 2\n"
        "hockney run jacobi --size 2000x2000x64 --ranks 4 --grid 1x4x1 --exchange overlap\n"
        "hockney run jacobi --subdomain 200 --ranks 1,2,4 --grid all -o jacobi",
        {"study": JacobiStudy, "launching": Annotated[AppLaunching, Without("ranks")]},
    ),
    predict=Question(
        """The time of a sweep on process grids, ranked, with intervals and the share of communication.

Each grid's exchange is simulated, message by message, with the machine's costs. The time of a cell comes from
runs of `hockney run jacobi`, or from --cell-time. With --table communication is calibrated on them, too.

With --serial-time a formula of weak scaling is evaluated for --subdomain, --grid and --network instead.""",
        "hockney predict jacobi --size 800 --ranks 48 --grid all --cell-time 0.9ns\n"
        "hockney predict jacobi --size 800 --ranks 48 --grid all --table folder --machine machine.json --json\n"
        f"{EXAMPLE} --json",
        {"case": JacobiCase},
    ),
    unit="a sweep",
    rate="MLUP/s",
    about="MLUP/s: 10⁶ lattice updates per second of all ranks. Communication: MPI and packing, of the time of "
    "all ranks.",
    about_bound="The bound: memory bandwidth, measured in turns with the sweeps, over the bytes of an update.",
    about_prediction=ABOUT_PREDICTION,
)

apps.register("jacobi")(APP)
