"""The options of `hockney predict datatype`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Option
from hockney.predict.verb import MachineFile, Strided
from hockney.units import parse_bytes, parse_extents

MOST_ELEMENTS = 10**15
"""Elements along one direction; more than any memory has bytes."""


class BlockLayout(Strided):
    """A layout by its blocks."""

    blocks: Annotated[int | None, Option("With --layout: how many blocks.")] = None


class BlockFace(BaseModel):
    """A layout by the face of a block of elements."""

    face: Annotated[str | None, Option("x, y or z: the face of a block in C order, x fastest.")] = None
    shape: Annotated[
        tuple[int, ...] | None,
        Option("Elements of the block of --face.", flags=("--size",), read=lambda text: _extents(text)),
    ] = None
    element_B: Annotated[
        int,
        Option(
            "With --face: size of an element. [default: 8B]", flags=("--element",), read=parse_bytes, show=None
        ),
    ] = 8


class EffectOptions(MachineFile):
    """Which effect of a machine file says what layouts cost."""

    locality: Annotated[str | None, Option("[default: the nearest measured]")] = None
    where: Annotated[list[str], Option("mpi, variant, mapping, system, placement.")] = Field(default_factory=list)


def _extents(text: str) -> tuple[int, ...]:
    return parse_extents(text, "a block", "elements", dimensions=(3,), at_most=MOST_ELEMENTS, example="64x64x64")
