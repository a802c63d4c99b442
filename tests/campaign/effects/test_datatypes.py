"""What is asked about `datatypes`: the experiment of Hoefler et al. 2010, every kind of layout, nothing twice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.campaign.effects.asking import Asked, ask, questions

from hockney.campaign.effects.base import Here


def asked(**choices: Any) -> Asked:
    here = Here(**{"pairs": [("cache", 0, 1)], "localities": {(0, 1): "cache"}, "ranks": [{}, {}], **choices})
    return ask("datatypes", here)


def parameters(**choices: Any) -> list[dict[str, Any]]:
    return [dict(one.parameters) for one in questions(asked(**choices))]


def test_the_experiment_of_hoefler_2010_is_asked() -> None:
    # Figure 1(b): 16 KiB of MPI_CHAR, blocks of one, strides of 1 and more, 128 among them; and contiguous.
    blocks_of_one = [
        one["stride_B"]
        for one in parameters()
        if one["way"] == "send" and one["layout"] == "vector" and one["block_B"] == 1 and one["blocks"] == 2**14
    ]
    assert blocks_of_one[0] == 1
    assert blocks_of_one == sorted(blocks_of_one)
    assert 128 in blocks_of_one
    assert max(blocks_of_one) * 2**14 > 32 * 2**20
    assert any(one["layout"] == "contiguous" and one["block_B"] == 2**14 for one in parameters())


def test_every_way_has_every_kind_of_layout_and_a_contiguous_message_of_its_sizes() -> None:
    for way in ("send", "hand", "receive", "pack", "unpack"):
        mine = [one for one in parameters() if one["way"] == way]
        kinds = {"contiguous", "vector", "indexed", "irregular", "face_x", "face_y", "face_z"}
        assert {one["layout"] for one in mine} == kinds, way
        contiguous = {one["block_B"] for one in mine if one["layout"] == "contiguous"}
        scattered = {
            8 * one["side"] ** 2 if "side" in one else one["blocks"] * one["block_B"]
            for one in mine
            if one["layout"] != "contiguous"
        }
        assert scattered <= contiguous, way
        # Between sizes measured a line is taken: where protocols change they are near each other.
        sizes = sorted(contiguous)
        assert all(after <= (2 if after <= 2**14 else 4) * before for before, after in pairwise(sizes)), way


def test_short_blocks_are_told_from_stored_ones_on_both_sides_of_a_switch() -> None:
    for way in ("send", "hand", "receive", "pack", "unpack"):
        vectors = {
            (one["blocks"] * one["block_B"], one["block_B"])
            for one in parameters()
            if one["way"] == way and one["layout"] == "vector" and one["stride_B"] == 2 * one["block_B"]
        }
        assert vectors >= {(size_B, block_B) for size_B in (2**12, 2**13, 2**14) for block_B in (8, 64)}, way
        assert vectors >= {(2**14, block_B) for block_B in (16, 32)}, way


def test_all_questions_together_take_the_time_of_eleven_points() -> None:
    assert sum(one["budget_s"] for one in parameters(budget_s=1.0)) <= 11


def test_what_a_loop_packs_the_library_sends_too() -> None:
    def layouts(way: str) -> set[str]:
        hidden = ("way", "repetitions", "least_samples", "budget_s", "tolerance")
        return {
            str({key: value for key, value in one.items() if key not in hidden})
            for one in parameters()
            if one["way"] == way
        }

    assert layouts("hand") <= layouts("send")


def test_nothing_is_asked_twice_and_nothing_planted() -> None:
    words = [str(one) for one in parameters()]
    assert len(set(words)) == len(words)
    assert {(one["planted_block_s"], one["planted_line_s"]) for one in parameters()} == {(0, 0)}


@pytest.mark.parametrize("largest_B", [64, 2**12, 2**15])
def test_no_message_is_larger_than_allowed(largest_B: int) -> None:
    for one in parameters(largest_B=largest_B):
        size_B = 8 * one["side"] ** 2 if "side" in one else one["blocks"] * one["block_B"]
        assert 0 < size_B <= largest_B
        assert one.get("stride_B", 0) >= one.get("block_B", 0)


def test_what_is_asked_depends_on_nothing_but_the_launch() -> None:
    assert parameters(seed=5) == parameters(seed=5)
    assert parameters(seed=5) != parameters(seed=6)
