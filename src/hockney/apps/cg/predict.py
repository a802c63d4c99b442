"""`hockney predict cg`: an iteration of conjugate gradients on process grids."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hockney.apps.stencil.options import parse_unknowns
from hockney.apps.stencil.verb import StencilCase, predict_stencil
from hockney.options import Option
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, verb
from hockney.units import Extents


class CgCase(StencilCase):
    """Which iterations are predicted."""

    operation: str = "cg"
    cells: Annotated[
        Extents | None,
        Option(
            "Unknowns of the whole: 1000x1000 or 200x200x100.",
            flags=("--size",),
            read=lambda text: parse_unknowns(text)[1],
        ),
    ] = None
    formulation: Annotated[str, Option("reference, fused, joint, single_sweep or pipelined.")] = "single_sweep"
    iterations: Annotated[int, Option("Consecutive iterations, whose mean is given."), Field(ge=1)] = 100


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
    the machine's costs; an unknown takes what runs of `hockney run cg` took, or --cell-time.
    """
    predict_stencil(case, as_json=as_json)
