"""Layouts in numbers are counted as the runner counts them: against points it measured, and block by block."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.predict.planted_datatypes import counted

from hockney.errors import RequestError
from hockney.machine.file import load
from hockney.models.effects._shapes import Shape
from hockney.models.effects.base import Cell
from hockney.predict.layout import face, strided

MEASURED = [row for one in load(Path("ci_2core")).effects if one.effect == "datatypes" for row in one.points]
SIDE = 64


def described(row: dict[str, Cell]) -> Shape:
    """The layout of a measured point, from the numbers that were asked for."""
    layout = str(row["layout"])
    if layout.startswith("face_"):
        return face(layout[-1], (SIDE, SIDE, SIDE), 8)
    kind = "vector" if layout == "contiguous" else layout
    blocks, block_B, stride_B = (int(row[name] or 0) for name in ("blocks", "block_B", "stride_B"))
    return strided(kind, blocks, block_B, stride_B)


def test_what_the_runner_counted_is_counted() -> None:
    regular = [row for row in MEASURED if row["layout"] != "irregular"]
    # 40 layouts by `send` alone, faces of three directions among them.
    assert len({(row["layout"], row["bytes"], row["blocks"], row["extent_B"]) for row in regular}) >= 39
    for row in regular:
        shape = described(row)
        found = (shape.bytes, shape.blocks, shape.lines, shape.extent_B)
        assert found == tuple(row[name] for name in ("bytes", "blocks", "lines", "extent_B")), row["layout"]


def test_irregular_lines_are_those_expected_of_what_the_runner_drew() -> None:
    drawn = [row for row in MEASURED if row["layout"] == "irregular"]
    assert drawn
    for row in drawn:
        shape = described(row)
        # Some hundred blocks at random: a line more or less for each of √blocks of them, three times that.
        assert abs(shape.lines - int(row["lines"] or 0)) <= 3 * int(row["blocks"] or 0) ** 0.5
        assert abs(shape.extent_B - int(row["extent_B"] or 0)) <= int(row["stride_B"] or 0)


@pytest.mark.parametrize("stride_B", [1, 7, 24, 48, 63, 64, 65, 96, 100, 128, 1000])
def test_lines_and_accesses_block_by_block(stride_B: int) -> None:
    for block_B in {1, min(8, stride_B), max(1, stride_B - 3), stride_B}:
        # Fewer blocks than a period, a whole number of periods, and a part of one more.
        for blocks in (1, 2, 5, 64, 131):
            shape = strided("vector", blocks, block_B, stride_B)
            assert (shape.bytes, shape.lines, shape.extent_B) == counted(blocks, block_B, stride_B)
            starts = [block * stride_B for block in range(blocks)]
            assert shape.accesses == sum((start + block_B - 1) // 64 - start // 64 + 1 for start in starts)


@pytest.mark.parametrize(("block_B", "stride_B"), [(8, 64), (8, 24), (1, 7), (40, 100), (64, 256), (200, 230)])
def test_expected_lines_are_the_mean_of_many_draws(block_B: int, stride_B: int) -> None:
    places, blocks, draws = random.Random(1), 50, 400
    lines = accesses = 0
    for _ in range(draws):
        starts = [block * stride_B + places.randint(0, stride_B - block_B) for block in range(blocks)]
        touched = [range(start // 64, (start + block_B - 1) // 64 + 1) for start in starts]
        lines += len(set().union(*touched))
        accesses += sum(map(len, touched))
    shape = strided("irregular", blocks, block_B, stride_B)
    # A mean of 400 draws of 50 blocks, each a line off by less than one: √50 / √400 is 0.35; rounded, 0.5 more.
    assert shape.lines == pytest.approx(lines / draws, abs=1.0)
    assert shape.accesses == pytest.approx(accesses / draws, abs=1.0)


def test_faces_of_a_block_that_is_no_cube() -> None:
    # 10 × 20 × 30 elements of 4 B, x fastest.
    across, along, flat = (face(axis, (10, 20, 30), 4) for axis in "xyz")
    assert (across.bytes, across.blocks, across.extent_B) == (20 * 30 * 4, 600, 599 * 40 + 4)
    assert (along.bytes, along.blocks, along.extent_B) == (10 * 30 * 4, 30, 29 * 800 + 40)
    assert (flat.bytes, flat.blocks, flat.is_contiguous) == (10 * 20 * 4, 1, True)
    # One element along x: its faces across x are the whole block.
    assert face("x", (1, 20, 30), 4).is_contiguous


def test_a_layout_of_any_length_is_counted_at_once() -> None:
    shape = strided("vector", 10**9, 8, 24)
    # Every third 8 B: each line of the span is touched, and blocks never cross one.
    assert (shape.lines, shape.accesses) == (-(-shape.extent_B // 64), 10**9)


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        (("vector", 0, 8, 64), "blocks 0"),
        (("vector", 8, 0, 64), "block 0"),
        (("vector", 8, 8, 0), "stride 0"),
        (("vector", 8, 65, 64), "would overlap"),
        (("spiral", 8, 8, 64), "unknown layout 'spiral'"),
        (("contiguous", 8, 8, 8), "unknown layout 'contiguous'"),
        (("vector", 2**30, 8, 2**20), "spans"),
    ],
)
def test_layouts_that_do_not_exist(numbers: tuple[str, int, int, int], what: str) -> None:
    with pytest.raises(RequestError, match=what):
        strided(*numbers)


@pytest.mark.parametrize(
    ("axis", "extents", "element_B", "what"),
    [
        ("w", (4, 4, 4), 8, "no face 'w'"),
        ("xy", (4, 4, 4), 8, "no face 'xy'"),
        ("", (4, 4, 4), 8, "no face ''"),
        ("x", (4, 4), 8, "4x4 is not a block"),
        ("x", (4, 0, 4), 8, "4x0x4 is not a block"),
        ("x", (4, 4, 4), 0, "an element of 0 B"),
    ],
)
def test_faces_that_do_not_exist(axis: str, extents: tuple[int, ...], element_B: int, what: str) -> None:
    with pytest.raises(RequestError, match=what):
        face(axis, extents, element_B)
