"""Pages and claimed bytes of a layout, against blocks counted one by one and caches filled line by line."""

from __future__ import annotations

import pytest

from hockney.models.effects._shapes import Shape, level_of
from hockney.predict.layout import face, strided

LEVELS = [("L1", 2**15), ("L2", 2**20), ("L3", 2**25)]


def touched(blocks: int, block_B: int, stride_B: int, unit_B: int) -> set[int]:
    return {
        unit
        for block in range(blocks)
        for unit in range(block * stride_B // unit_B, (block * stride_B + block_B - 1) // unit_B + 1)
    }


@pytest.mark.parametrize("stride_B", [8, 24, 64, 100, 1000, 2048, 4096, 4104, 5000, 8192, 20000])
def test_pages_and_places_block_by_block(stride_B: int) -> None:
    for block_B in {1, min(8, stride_B), max(1, stride_B - 3)}:
        # One block, fewer than a period of strides and pages, and parts of a second and third.
        for blocks in (1, 2, 5, 511, 1300, 9000):
            shape = strided("vector", blocks, block_B, stride_B)
            lines = touched(blocks, block_B, stride_B, 64)
            assert shape.pages == len(touched(blocks, block_B, stride_B, 4096))
            assert shape.claimed_B == len(lines) * 4096 // len({line % 64 for line in lines})


@pytest.mark.parametrize("stride_B", [64, 128, 512, 4096, 2**14])
def test_a_power_of_two_claims_what_it_spans(stride_B: int) -> None:
    # One line of every so many, and never those between: at a page and more all are at one place.
    shape = strided("vector", 4096, 8, stride_B)
    assert shape.claimed_B == 4096 * min(stride_B, 4096)


def test_another_stride_claims_its_lines() -> None:
    # A page and 8 B: line after line of the pages, 2048 of them 128 KiB; at a page sharp 8 MiB.
    odd, sharp = (strided("vector", 2048, 8, stride_B) for stride_B in (4104, 4096))
    assert (odd.claimed_B, sharp.claimed_B) == (2048 * 64, 2048 * 4096)
    assert (level_of(odd, LEVELS), level_of(sharp, LEVELS)) == ("L2", "L3")
    # Irregular blocks are anywhere in their pages, whatever the mean distance.
    irregular = strided("irregular", 2048, 8, 4096)
    assert irregular.claimed_B == irregular.lines * 64


def test_the_claim_is_the_smallest_cache_that_keeps_all_lines() -> None:
    """A cache of W ways with a page's lines as sets: no set gets more lines than it has ways."""
    for blocks, block_B, stride_B in ((256, 8, 4096), (300, 8, 128), (77, 64, 8192), (500, 16, 1040)):
        per_place = [0] * 64
        for line in touched(blocks, block_B, stride_B, 64):
            per_place[line % 64] += 1
        shape = strided("vector", blocks, block_B, stride_B)
        # Its sets' mean is claimed; the fullest one has less than one line a page more.
        assert shape.claimed_B <= max(per_place) * 4096 < shape.claimed_B + 2 * 4096


def test_a_contiguous_face_has_no_gaps() -> None:
    shape = face("z", (64, 64, 64), 8)
    assert (shape.pages, shape.claimed_B, shape.is_contiguous) == (8, 32768, True)


def test_elements_are_those_of_the_layout() -> None:
    assert [face("x", (8, 8, 8), size_B).element_B for size_B in (4, 8)] == [4, 8]
    assert strided("vector", 8, 8, 16).element_B == 1


def test_the_message_needs_room_beside_its_lines() -> None:
    # 16 KiB of lines and 8 KiB of message fit in 32 KiB, twice as much does not.
    small, large = (
        Shape("vector", size_B, size_B // 32, size_B // 32, size_B // 32, 2 * size_B) for size_B in (8192, 16384)
    )
    assert (level_of(small, LEVELS), level_of(large, LEVELS), level_of(large, [])) == ("L1", "L2", "memory")
