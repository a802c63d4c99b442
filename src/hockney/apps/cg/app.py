"""Conjugate gradients: what it is asked, checked before anything is launched, and the words of its page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import quote

from pydantic import Field, model_validator

from hockney.apps.stencil.options import (
    ABOUT_PREDICTION,
    SUMS,
    VARIANTS,
    Parameters,
    StencilCase,
    StencilStudy,
    Variant,
    parse_unknowns,
)
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Option, Without
from hockney.report.application import App, Question, apps
from hockney.units import Extents, listed, words

MOST_ITERATIONS = 10**6
USUAL_SIZE = "100x100x100"
STREAMED = 10
"""How often the traffic of an iteration is timed by itself before each solve."""


class CgStudy(StencilStudy):
    """A study: each size on each number of ranks and each of its grids, in one launch.

    `eps` 0 does exactly `iterations`.
    """

    sizes: Annotated[
        tuple[tuple[int, Extents], ...],
        Option(
            f"Unknowns in two or three directions, several with commas between. [default: {USUAL_SIZE}]",
            flags=("--size",),
            read=parse_unknowns,
            repeat=True,
            commas=True,
        ),
    ] = ()
    variants: Annotated[
        tuple[Variant, ...],
        Option(
            f"Formulation of the solver: {', '.join(VARIANTS)}, or several.",
            flags=("--formulation",),
            read=words,
            commas=True,
            show=",".join,
        ),
    ] = ("single_sweep",)
    eps: Annotated[
        float,
        Option(
            "Stop when the residual has fallen to this share. [default: 1e-6]", flags=("--tolerance",), show=None
        ),
        Field(ge=0, lt=1),
    ] = 1e-6
    iterations: Annotated[
        int,
        Option("Largest number of iterations. [default: until --tolerance, 10000 at most]", show=None),
        Field(ge=1, le=MOST_ITERATIONS),
    ] = 10000
    replace_every: Annotated[
        int, Option("Iterations after which the residual is computed anew, or 0 for never."), Field(ge=0)
    ] = 50
    solution: Annotated[Path | None, Option("File for the solution as raw doubles, described in FILE.json.")] = (
        None
    )

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: Any) -> Any:
        """What is not asked for follows from what is, or from this host."""
        completed = {"sizes": (parse_unknowns(USUAL_SIZE),), **given}
        if "iterations" in given and "eps" not in given:
            completed["eps"] = 0.0
        return completed

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        """RequestError for what no launch could do."""
        if not self.compute and (self.eps > 0 or self.solution):
            raise RequestError(
                "without computing nothing converges and there is nothing to write",
                "give --iterations and leave out --solution",
            )
        count = len(list(self.requests(is_simulated=True)))
        if self.solution and count > 1:
            raise RequestError(f"{count} runs would write to the same file", "ask for one run, or no --solution")
        return self

    def requests(self, *, is_simulated: bool) -> Iterator[tuple[int, Parameters]]:
        """Each size on each number of ranks, grid and formulation."""
        own: Parameters = {
            "stores": "auto",
            "eps": self.eps,
            "iterations": self.iterations,
            "replace_every": self.replace_every,
            "stream": STREAMED if self.compute and not is_simulated else 0,
            "file": quote(str(self.solution.absolute())) if self.solution else "",
        }
        for (dimensions, cells), ranks in product(self.sizes, self.ranks):
            for grid, variant in product(self.grids_on(ranks, cells), self.variants):
                asked = {**self.parameters_on(cells, grid), "dimensions": dimensions, "variant": variant}
                yield ranks, asked | own


class CgCase(StencilCase):
    """Which iterations are predicted."""

    operation: str = "cg"
    cells: Annotated[
        Extents | None,
        Option(
            "Unknowns along two or three directions, such as 4096x4096.",
            flags=("--size",),
            read=lambda text: parse_unknowns(text)[1],
        ),
    ] = None
    formulation: Annotated[Variant | None, Option(f"Formulation of the solver: {listed(VARIANTS)}.")] = (
        "single_sweep"
    )
    iterations: int = 100


APP = App(
    name="cg",
    title="Conjugate gradients",
    meaning="Conjugate gradients for Poisson's equation; an iteration exchanges halos, applies the operator and "
    "adds up over all ranks. Its time is that of the whole solution over the number of iterations.",
    run=Question(
        """Conjugate gradients for Poisson's equation in two or three dimensions: iterations, time, traffic.

The stop is r · r ≤ eps² of its first value. Several sizes, ranks, grids and formulations are one launch.""",
        "hockney run cg\n"
        "hockney run cg --size 500x500 --ranks 2\n"
        "hockney run cg --size 200x200x200 --ranks 1,2\n"
        "hockney run cg --size 300x200 --ranks 6 --grid all\n"
        "hockney run cg --size 300x200 --solution u.dat",
        {"study": CgStudy, "launching": Annotated[AppLaunching, Without("ranks")]},
    ),
    predict=Question(
        """The time of an iteration on process grids, ranked, with intervals and the share of communication.

The exchange of halos and the sums over all ranks (recursive doubling) are simulated, message by message, with
the machine's costs. The time of an unknown comes from runs of `hockney run cg`, or from --cell-time. Runs of two
sizes or more also give the number of iterations to a solution, and its time.""",
        "hockney predict cg --size 512x512x512 --ranks 48 --grid all --cell-time 2ns\n"
        "hockney predict cg --size 4096x4096 --ranks 64 --grid 8x8x1 --table folder --machine m.json --json",
        {"case": CgCase},
    ),
    unit="an iteration",
    rate="iterations/s",
    about="Communication: halos and sums, of the time of all ranks.",
    about_bound="The bound: memory bandwidth, measured in turns with solutions, over the bytes of an iteration.",
    about_prediction=f"{ABOUT_PREDICTION} Sums go by {SUMS.replace('_', ' ')}.",
)

apps.register("cg")(APP)
