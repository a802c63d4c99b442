"""The three-dimensional sum: what its run and its prediction are asked alike."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Argument, Option, flags_written
from hockney.units import Extents, parse_extents

MOST = 2**31 - 1
"""Elements along a direction."""


class Size(BaseModel):
    """Elements of the matrices."""

    nx: Annotated[int, Argument("Elements along x.", metavar="nx")]
    ny: Annotated[int, Argument("Elements along y.", metavar="ny")]
    nz: Annotated[int, Argument("Elements along z.", metavar="nz")]

    @property
    def size(self) -> Extents:
        """Along all three."""
        return Extents(self.nx, self.ny, self.nz)


def parse_sizes(texts: list[str]) -> list[Extents]:
    """`2400x100x100`, each once. RequestError for anything else."""
    sizes = (
        parse_extents(text, "a size", "elements", dimensions=(3,), at_most=MOST, example="2400x100x100")
        for text in texts
    )
    return [Extents(*size) for size in dict.fromkeys(sizes)]


class Sum3dCosts(BaseModel):
    """Which messages of a machine file cost what, and what a sum moves."""

    locality: Annotated[str, Option("Rank 0 and the others. [default: the farthest measured]")] = ""
    cache: Annotated[
        str,
        Option("Of the messages. [default: off where the matrices exceed the caches]"),
    ] = ""
    write_allocate: Annotated[
        bool,
        Option("The cache reads what is written: 32 B for each sum, not 24 B.", flags=("--write-allocate",)),
    ] = False
    algorithm: Annotated[str, Option("Of scatter and gather: linear or binomial.")] = "linear"


def refuse_beside_table(costs: Sum3dCosts) -> None:
    """RequestError for options of simulated scatters and gathers, where these were measured."""
    written = flags_written(costs)
    for name in ("locality", "algorithm"):
        if name in written:
            raise RequestError(f"{written[name]} means nothing with --table", "leave it out: the table says it")
