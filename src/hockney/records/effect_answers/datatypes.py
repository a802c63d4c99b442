"""What the runner answers about datatypes."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from hockney.records.answers import Asked, Timed
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import MOST_EXACT, Count


class DatatypesAsked(Asked):
    """A layout, and how it is sent; a vector's blocks and their distance."""

    way: str
    layout: str
    block_B: Count | None = None
    stride_B: Count | None = None

    @model_validator(mode="after")
    def _vector_is_whole(self) -> Self:
        if self.layout == "vector" and None in (self.block_B, self.stride_B):
            raise ValueError("a vector has block_B and stride_B")
        return self


class DatatypesAnswer(Timed):
    """A message of scattered data, and what the runner counted in its layout: blocks, and cache lines of 64 B.

    `accesses`: pairs of a block and a line that it touches. `rounds`: messages in a sample.
    """

    ASKED = DatatypesAsked

    bytes: Count
    blocks: int = Field(ge=1, le=MOST_EXACT)
    lines: int = Field(ge=1, le=MOST_EXACT)
    accesses: int = Field(ge=1, le=MOST_EXACT)
    extent_B: Count
    rounds: Count = 1

    @model_validator(mode="after")
    def _blocks_fit(self) -> Self:
        if self.bytes < self.blocks or self.extent_B < self.bytes:
            raise ValueError("blocks of a byte at least lie within the extent")
        return self


effect_answers.register("datatypes")(DatatypesAnswer)
