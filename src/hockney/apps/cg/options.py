"""Conjugate gradients: what may be asked for, checked before anything is launched."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import quote

from pydantic import Field, model_validator

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.solution import describe
from hockney.apps.launched import Launched
from hockney.apps.stencil.fitting import proposing
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.options import StencilStudy, parse_unknowns
from hockney.apps.stencil.ways import VARIANTS, Variant
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.records.app_record import AppRecord
from hockney.runner.session import Refused
from hockney.units import Extents
from hockney.words import listed, words

Stores = Literal["auto", "plain", "streaming"]

MOST_ITERATIONS = 10**6
USUAL_SIZE = "100x100x100"
STREAMED = 10
"""How often the traffic of an iteration is timed by itself before each solve."""


def last_norm(answer: CgAnswer) -> float | None:
    """Of the residual, as the iteration says; None without computing, or where it is not finite."""
    return answer.residual_norms[-1] if answer.residual_norms else None


def _sized(dimensions: int, cells: Extents) -> str:
    """The option that asks for so many unknowns."""
    return f"--size {'x'.join(map(str, cells[:dimensions]))}"


class CgStudy(StencilStudy):
    """A study: each size on each number of ranks and each of its grids, in one launch.

    `eps` 0 does exactly `iterations`. `launches`: how many there will be, each with the whole study.
    """

    sizes: Annotated[
        tuple[tuple[int, Extents], ...],
        Option(
            f"Unknowns, in two or three directions; several: with commas. [default: {USUAL_SIZE}]",
            flags=("--size",),
            read=parse_unknowns,
            repeat=True,
            commas=True,
        ),
    ] = ()
    variants: Annotated[
        tuple[Variant, ...],
        Option(
            f"{', '.join(VARIANTS)}, or several.",
            flags=("--formulation",),
            read=words,
            commas=True,
            show=",".join,
        ),
    ] = ("single_sweep",)
    stores: Annotated[Stores, Option(f"{listed(get_args(Stores))} (A p passes by the caches).")] = "auto"
    eps: Annotated[float, Option("[default: 1e-6]", show=None), Field(lt=1)] = 1e-6
    iterations: Annotated[
        int,
        Option("With --eps the most. [default: until eps, 10000 at most]", show=None),
        Field(ge=1),
    ] = 10000
    replace_every: Annotated[int, Option("r = b - A x every so many iterations; 0: never."), Field(ge=0)] = 50
    bound: Annotated[
        bool,
        Option("By itself before each solve: a lower bound of its time."),
    ] = False
    solution: Annotated[Path | None, Option("File of the solution: raw doubles, described in FILE.json.")] = None
    launches: int = 1

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What is not asked for follows from what is, or from this host."""
        completed = {"sizes": (parse_unknowns(USUAL_SIZE),), **given}
        if "iterations" in given and "eps" not in given:
            completed["eps"] = 0.0
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
        count = self.launches * len(self.problems())
        if self.solution and count > 1:
            raise RequestError(f"{count} runs would write to the same file", "ask for one run, or no --solution")
        return self

    def problems(self) -> list[tuple[int, int, Extents, Grid, Variant]]:
        """Every run as ranks, dimensions, unknowns, grid and variant."""
        return [
            (ranks, dimensions, cells, grid, variant)
            for dimensions, cells in self.sizes
            for ranks in self.ranks
            for grid in self.grids_on(ranks, cells)
            for variant in self.variants
        ]

    def parameters(
        self, dimensions: int, cells: Extents, grid: Grid, variant: Variant, is_simulated: bool
    ) -> dict[str, Any]:
        """The keys of the program's request. On simulated hosts nothing can bound the bandwidth."""
        return {
            **self.parameters_on(cells, grid),
            "dimensions": dimensions,
            "variant": variant,
            "stores": self.stores,
            "eps": self.eps,
            "iterations": self.iterations,
            "replace_every": self.replace_every,
            "stream": STREAMED if self.bound and self.compute and not is_simulated else 0,
            "file": quote(str(self.solution.absolute())) if self.solution else "",
        }

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """One run for each problem; the description of the solution where one was written."""
        is_simulated = launched.placement[0].simulated
        for ranks, dimensions, cells, grid, variant in self.problems():
            parameters = self.parameters(dimensions, cells, grid, variant, is_simulated)
            try:
                (record,) = yield launched.request("cg", parameters, ranks)
            except Refused as error:
                raise proposing(error, cells, partial(_sized, dimensions)) from error
            if self.solution:
                answer = record.answer.read_as(CgAnswer)
                facts = {
                    "iterations": answer.iterations,
                    "converged": answer.converged,
                    "verified": answer.verified,
                    "residual_norm": last_norm(answer),
                }
                describe(self.solution, (cells.z, cells.y, cells.x), 1 / (max(cells) + 1), facts)
