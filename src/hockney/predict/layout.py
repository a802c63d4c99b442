"""Layouts of memory given in numbers: bytes, blocks, cache lines and span, as the runner counts them.

What is counted is that of cpp/runner/effects/datatypes/layout.cpp, in memory that begins with a cache line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from hockney.errors import RequestError
from hockney.models.effects._shapes import LINE_B, Shape

LISTED = ("vector", "indexed", "irregular")
"""Layouts of blocks with a stride; of `irregular` it is the mean distance."""
AXES = "xyz"
MOST_B = 2**40
"""Spanned by a layout: beyond the memory of a node."""


def strided(layout: str, blocks: int, block_B: int, stride_B: int) -> Shape:
    """`blocks` of `block_B` bytes, one every `stride_B`; of `irregular` at a random place of each stride.

    Elements are MPI_CHAR. Lines, accesses and span of `irregular` are the expected ones over all places, rounded.
    RequestError for an unknown layout, numbers that are not positive, blocks that overlap, and a span of more
    than MOST_B.
    """
    if layout not in LISTED:
        raise RequestError(f"unknown layout {layout!r}", f"known: {', '.join(LISTED)}, or a face: x, y, z")
    for name, value in (("blocks", blocks), ("block", block_B), ("stride", stride_B)):
        if value < 1:
            raise RequestError(f"{name} {value}: a layout needs 1 or more", "for example vector:2048x8B/64B")
    if stride_B < block_B:
        raise RequestError(
            f"a stride of {stride_B} B is less than the block of {block_B} B: the blocks would overlap",
            "the stride leads from the start of a block to that of the next",
        )
    return _shape(layout, blocks, block_B, stride_B, element_B=1)


def face(axis: str, extents: Sequence[int], element_B: int) -> Shape:
    """The face normal to `axis` of a block of `extents` (x, y, z) elements of `element_B` bytes, x fastest.

    RequestError for an unknown axis, other than three extents, or numbers that are not positive.
    """
    if axis not in AXES or len(axis) != 1:
        raise RequestError(f"there is no face {axis!r}", "known: x, y, z")
    if len(extents) != 3 or min(extents) < 1:
        written = "x".join(map(str, extents))
        raise RequestError(f"{written} is not a block", "write for example x:64x64x64")
    if element_B < 1:
        raise RequestError(f"an element of {element_B} B: it has 1 B or more", "for example x:64x64x64/8B")
    x, y, z = extents
    blocks, block_B, stride_B = {
        "x": (y * z, element_B, element_B * x),
        "y": (z, element_B * x, element_B * x * y),
        "z": (1, element_B * x * y, element_B * x * y),
    }[axis]
    return _shape(f"face_{axis}", blocks, block_B, stride_B, element_B)


def _shape(layout: str, blocks: int, block_B: int, stride_B: int, element_B: int) -> Shape:
    freedom_B = stride_B - block_B if layout == "irregular" else 0
    extent_B = (blocks - 1) * stride_B + freedom_B // 2 + block_B
    if extent_B > MOST_B:
        raise RequestError(f"the layout spans {extent_B} B, more than {MOST_B} B", "predict a smaller one")
    accesses, shared = _counted(blocks, block_B, stride_B, freedom_B)
    return Shape(
        layout=layout,
        bytes=blocks * block_B,
        blocks=blocks,
        lines=round(accesses - shared),
        accesses=round(accesses),
        extent_B=extent_B,
        element_B=element_B,
    )


def _counted(blocks: int, block_B: int, stride_B: int, freedom_B: int) -> tuple[Fraction, Fraction]:
    """(accesses, lines that a block shares with the one before it), expected; exact without freedom.

    Block i begins at i · stride + t, t uniform in 0 … freedom. Lines repeat after a period of blocks; only
    neighbours can share a line that no block between them touches, because blocks are in order.
    """
    period = LINE_B // math.gcd(stride_B, LINE_B)
    places = freedom_B + 1
    accesses = shared = Fraction(0)
    for block in range(min(period, blocks)):
        times = (blocks - 1 - block) // period + 1
        accesses += times * _lines_touched(block * stride_B, block_B, places)
        # Where a period begins a line begins too, which the block before does not reach.
        shared += times * _chance_shared(block, block_B, stride_B, places)
    return accesses, shared


def _lines_touched(start_B: int, block_B: int, places: int) -> Fraction:
    """Lines of a block that begins at `start_B` + t, mean over t in 0 … places − 1."""
    of_residue = [((start_B + t) % LINE_B + block_B - 1) // LINE_B + 1 for t in range(min(places, LINE_B))]
    whole, rest = divmod(places, LINE_B)
    return Fraction(whole * sum(of_residue) + sum(of_residue[:rest]), places)


def _chance_shared(block: int, block_B: int, stride_B: int, places: int) -> Fraction:
    """Chance that the last line of the block before is this one's first: the line in which its stride begins."""
    border_B = block * stride_B
    line_B = border_B // LINE_B * LINE_B
    first_reaching = max(0, line_B - (border_B - stride_B) - block_B + 1)
    before = max(0, places - first_reaching)
    own = min(places, line_B + LINE_B - border_B)
    return Fraction(before * own, places**2)
