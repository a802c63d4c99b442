"""What the cost of a layout depends on: its bytes, blocks, lines and pages, and how much of a cache they need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hockney.records.effect_answers import DatatypesAnswer
from hockney.records.effect_record import EffectRecord, answered

WAYS = ("send", "hand", "receive", "pack", "unpack")
"""Of sending scattered data, and parts of them."""
LOOP, LIBRARY, UNTOLD = "by hand", "library", "undecided"
"""Which way of sending scattered data is faster."""
MEMORY = "memory"
LINE_B = 64
PAGE_B = 4096
PLACES = PAGE_B // LINE_B
"""The places that a line can have in its page."""


@dataclass(frozen=True)
class Shape:
    """What the cost of a layout depends on."""

    layout: str
    bytes: int
    blocks: int
    lines: int
    accesses: int
    extent_B: int
    element_B: int = 1

    @classmethod
    def of(cls, record: EffectRecord) -> Shape:
        """The shape as the runner has counted it."""
        answer = answered(record, DatatypesAnswer)
        layout = str(record.parameters["layout"])
        return cls(
            layout=layout,
            bytes=answer.bytes,
            blocks=answer.blocks,
            lines=answer.lines,
            accesses=answer.accesses,
            extent_B=answer.extent_B,
            element_B=measured_element_B(layout),
        )

    @property
    def is_contiguous(self) -> bool:
        """Whether all blocks touch."""
        return self.extent_B == self.bytes

    @property
    def block_B(self) -> int:
        """Length of a block."""
        return self.bytes // self.blocks

    @property
    def pages(self) -> int:
        """Pages of memory that begins with one, that the blocks touch; irregular ones at their mean distance."""
        return _touched(self.blocks, self.block_B, self._stride_B)[0]

    @property
    def claimed_B(self) -> int:
        """Bytes of a cache whose sets hold these lines.

        A line's place in its page decides which sets it can be in (whatever the page's own address is): lines
        that all have one of p of the 64 places have that part of every cache. Lines at a power-of-two stride
        claim all that they span, others little more than they are.
        """
        places = _touched(self.blocks, self.block_B, self._stride_B)[1]
        if self.layout == "irregular":
            places = min(PLACES, self.lines)
        return self.lines * PAGE_B // places

    @property
    def _stride_B(self) -> int:
        return (self.extent_B - self.block_B) // max(1, self.blocks - 1)


def measured_element_B(layout: str) -> int:
    """Bytes of an element of the runner's layouts: faces are of doubles, all others of MPI_CHAR."""
    return 8 if layout.startswith("face_") else 1


@lru_cache(maxsize=4096)
def _touched(blocks: int, block_B: int, stride_B: int) -> tuple[int, int]:
    """(pages, places of lines in a page) that blocks in order touch, the first where a page begins."""
    if blocks == 1:
        stride_B = block_B
    # After so many blocks a page begins with a block again, which the block before does not reach.
    period = PAGE_B // math.gcd(stride_B, PAGE_B)
    start_B = np.arange(min(period, blocks)) * stride_B
    end = (start_B + block_B - 1) // PAGE_B + 1
    new = end - np.maximum(start_B // PAGE_B, np.concatenate([[0], end[:-1]]))
    periods, rest = divmod(blocks, period)
    pages = periods * int(new.sum()) + int(new[:rest].sum())
    within_B = [*range(0, min(block_B, PAGE_B), LINE_B), min(block_B, PAGE_B) - 1]
    places = np.unique((start_B[:, None] + np.array(within_B)) // LINE_B % PLACES)
    return pages, len(places)


def levels_of(caches: Sequence[Mapping[str, int]]) -> list[tuple[str, int]]:
    """(name, bytes) of each cache, innermost first."""
    return [(f"L{cache['level']}", int(cache["size_B"])) for cache in caches]


def level_of(shape: Shape, levels: Sequence[tuple[str, int]]) -> str:
    """The innermost level that has room for the lines and the message together."""
    return next((name for name, size_B in levels if shape.claimed_B + shape.bytes <= size_B), MEMORY)
