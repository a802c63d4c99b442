"""`hockney predict cg`: an iteration of conjugate gradients on process grids."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hockney.apps.stencil.options import parse_unknowns
from hockney.apps.stencil.verb import StencilCase, predict_stencil
from hockney.apps.stencil.ways import VARIANTS
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import Extents
from hockney.words import listed

with later():
    from hockney.apps.cg.iterations import solution
    from hockney.apps.stencil.measured import MeasuredRuns
    from hockney.apps.stencil.solution import Solution


class CgCase(StencilCase):
    """Which iterations are predicted."""

    operation: str = "cg"
    cells: Annotated[
        Extents | None,
        Option(
            "Unknowns, in two or three directions.",
            flags=("--size",),
            read=lambda text: parse_unknowns(text)[1],
        ),
    ] = None
    formulation: Annotated[str, Option(f"{listed(VARIANTS)}.")] = "single_sweep"
    iterations: Annotated[
        int,
        Option("Their mean is given; with --runs, as many as a solution takes."),
        Field(ge=1),
    ] = 100
    eps: Annotated[
        float | None,
        Option("With --runs. [default: that of the runs]"),
        Field(gt=0, lt=1),
    ] = None


@verb(
    "cg",
    examples="""
hockney predict cg --size 512x512x512 --ranks 48 --grid all --cell-time 2ns
hockney predict cg --size 4096x4096 --ranks 64 --grid 8x8x1 --runs folder --machine machine.json --json
""",
    of=predict,
)
def cg(case: CgCase, as_json: JsonOption = False) -> None:
    """The time of an iteration on process grids, ranked, with intervals, and where communication matters.

    The exchange of halos and the sums over all ranks (recursive doubling) are simulated, message by message, with
    the machine's costs; an unknown takes what runs of `hockney run cg` took, or --cell-time. Runs of two sizes or
    more say, too, how many iterations a solution takes, and so how long it is.
    """
    predict_stencil(case, as_json=as_json, solution=lambda runs: _solution(case, runs))


def _solution(case: CgCase, runs: MeasuredRuns) -> Solution | None:
    """None where the runs do not say it and --eps does not ask for it."""
    if case.cells is None:
        return None
    try:
        return solution(runs, case.cells, case.eps)
    except RequestError as error:
        if case.eps is not None:
            raise
        say.note(f"no time of a solution: {error.message}; {error.hint}")
        return None
