"""Conjugate gradients: what may be asked for, checked before anything is launched."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.solution import describe
from hockney.apps.launched import Launched, Repetitions, repetitions
from hockney.apps.stencil.grids import Grid, factorisations, parse_grid
from hockney.apps.stencil.options import Faces, parse_ranks, parse_unknowns
from hockney.apps.stencil.stencil import Exchange
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.options import Option
from hockney.records.app_record import AppRecord
from hockney.runner.inventory import inventory
from hockney.units import Extents, parse_time
from hockney.words import words

Variant = Literal["reference", "fused", "joint", "single_sweep", "pipelined"]
Stores = Literal["auto", "plain", "streaming"]

MOST_ITERATIONS = 10**6
USUAL_SIZE = "100x100x100"
STREAMED = 10
"""How often the traffic of an iteration is timed by itself before each solve."""


def last_norm(answer: CgAnswer) -> float | None:
    """Of the residual, as the iteration says; None without computing, or where it is not finite."""
    return answer.residual_norms[-1] if answer.residual_norms else None


class CgStudy(BaseModel):
    """A study: each size on each number of ranks and each of its grids, in one launch.

    `grid` None takes the one that cuts through the fewest unknowns, `every_grid` all that fit. `eps` 0 does
    exactly `iterations`. `cell_s`: seconds that a simulated host takes for an unknown and iteration. `launches`:
    how many there will be, each with the whole study.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: Annotated[
        tuple[tuple[int, Extents], ...],
        Option(
            f"Unknowns: 1000x1000 or 200x200x100; repeat for several. [default: {USUAL_SIZE}]",
            flags=("--size",),
            read=parse_unknowns,
            repeat=True,
        ),
    ] = ()
    ranks: Annotated[
        tuple[int, ...],
        Option("4, or 1,2,4 in one launch. [default: the cores of this host]", read=parse_ranks),
    ] = ()
    grid: Annotated[
        Grid | None,
        Option(
            "PXxPYxPZ, or all. [default: the one that cuts through the fewest unknowns]",
            read=lambda text: text if text == "all" else parse_grid(text),
        ),
    ] = None
    every_grid: bool = False
    variants: Annotated[
        tuple[Variant, ...],
        Option(
            "reference, fused, joint, single_sweep, pipelined; comma-separated.",
            flags=("--formulation",),
            read=words,
            show=",".join,
        ),
    ] = ("single_sweep",)
    halo: Annotated[Exchange, Option("sendrecv, nonblocking, overlap, persistent or neighborhood.")] = (
        "nonblocking"
    )
    faces: Annotated[Faces, Option("datatype or packed.")] = "packed"
    stores: Annotated[Stores, Option("auto, plain or streaming (A p passes by the caches).")] = "auto"
    eps: Annotated[
        float, Option("End where ‖r‖ ≤ eps times the first. [default: 1e-6]", show=None), Field(lt=1)
    ] = 1e-6
    iterations: Annotated[
        int,
        Option("So many, or at most so many with --eps. [default: until eps, 10000 at most]", show=None),
        Field(ge=1),
    ] = 10000
    replace_every: Annotated[int, Option("r = b - A x every so many iterations; 0: never."), Field(ge=0)] = 50
    bound: Annotated[bool, Option("Measure, in turns with the solves, what memory allows.")] = False
    compute: Annotated[
        bool, Option("On a simulated cluster --no-compute leaves out the arithmetic, not its time.")
    ] = True
    cell_s: Annotated[
        float,
        Option(
            "Of an unknown and iteration on a host of a simulated cluster: 1ns.",
            flags=("--cell-time",),
            read=parse_time,
            show=None,
        ),
        Field(ge=0, allow_inf_nan=False),
    ] = 0.0
    solution: Annotated[Path | None, Option("File of the solution: raw doubles, described in FILE.json.")] = None
    repetitions: Repetitions = None
    launches: int = 1

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What is not asked for follows from what is, or from this host."""
        grid = given.get("grid")
        completed = {"sizes": (parse_unknowns(USUAL_SIZE),), **given}
        if grid == "all":
            completed |= {"grid": None, "every_grid": True}
        if "iterations" in given and "eps" not in given:
            completed["eps"] = 0.0
        if not given.get("ranks"):
            completed["ranks"] = (grid.ranks,) if isinstance(grid, Grid) else (inventory().cores,)
        return completed

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        """RequestError for what no launch could do."""
        if self.iterations > MOST_ITERATIONS:
            raise RequestError(f"--iterations must be from 1 to {MOST_ITERATIONS}", "for example 100")
        if not self.eps >= 0:
            raise RequestError(f"--eps must be at least 0 and below 1, not {self.eps:g}", "for example 1e-6")
        if not self.compute and (self.eps > 0 or self.faces != "packed" or self.solution):
            raise RequestError(
                "without computing nothing converges and there is nothing to write",
                "give --iterations and leave out --solution, with --faces packed",
            )
        if self.grid is not None and {self.grid.ranks} != set(self.ranks):
            raise RequestError(
                f"grid {self.grid} has {self.grid.ranks} processes, not {', '.join(map(str, self.ranks))}",
                f"--ranks {self.grid.ranks}, or leave out --grid",
            )
        count = self.launches * len(self.problems())
        if self.solution and count > 1:
            raise RequestError(f"{count} runs would write to the same file", "ask for one run, or no --solution")
        return self

    def grids(self, ranks: int, cells: Extents) -> list[Grid]:
        """The process grids of one size on so many ranks; RequestError where there is none."""
        fitting = [
            grid
            for grid in ([self.grid] if self.grid else factorisations(ranks))
            if all(p <= n for p, n in zip(grid, cells, strict=True))
        ]
        if not fitting:
            raise RequestError(
                f"there are more ranks than unknowns along a direction: {self.grid or ranks} on {cells}",
                "take more unknowns, fewer ranks or another grid",
            )
        if self.every_grid or self.grid:
            return fitting

        def cut(grid: Grid) -> int:
            return sum((p - 1) * math.prod(cells) // n for p, n in zip(grid, cells, strict=True))

        return [min(fitting, key=lambda grid: (cut(grid), grid.x, grid.y))]

    def problems(self) -> list[tuple[int, int, Extents, Grid, Variant]]:
        """Every run as ranks, dimensions, unknowns, grid and variant."""
        return [
            (ranks, dimensions, cells, grid, variant)
            for dimensions, cells in self.sizes
            for ranks in self.ranks
            for grid in self.grids(ranks, cells)
            for variant in self.variants
        ]

    def parameters(
        self, dimensions: int, cells: Extents, grid: Grid, variant: Variant, is_simulated: bool
    ) -> dict[str, Any]:
        """The keys of the program's request. On simulated hosts nothing can bound the bandwidth."""
        return {
            "dimensions": dimensions,
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
            **dict(zip(("px", "py", "pz"), grid, strict=True)),
            "variant": variant,
            "halo": self.halo,
            "faces": self.faces,
            "stores": self.stores,
            "eps": self.eps,
            "iterations": self.iterations,
            "replace_every": self.replace_every,
            "stream": STREAMED if self.bound and self.compute and not is_simulated else 0,
            "compute": int(self.compute),
            "cell_s": self.cell_s,
            "file": quote(str(self.solution.absolute())) if self.solution else "",
            **repetitions(self.repetitions),
        }

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """One run for each problem; the description of the solution where one was written."""
        is_simulated = launched.placement[0].simulated
        for ranks, dimensions, cells, grid, variant in self.problems():
            asked = self.parameters(dimensions, cells, grid, variant, is_simulated)
            (record,) = yield launched.request("cg", asked, ranks)
            if self.solution:
                answer = record.answer.read_as(CgAnswer)
                facts = {
                    "iterations": answer.iterations,
                    "converged": answer.converged,
                    "verified": answer.verified,
                    "residual_norm": last_norm(answer),
                }
                describe(self.solution, (cells.z, cells.y, cells.x), 1 / (max(cells) + 1), facts)
