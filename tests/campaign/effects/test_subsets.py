"""Which subsets of the ranks are asked for: each once together, every rank in one of them, and some alone."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, NotMeasurable, Question
from hockney.campaign.effects.subsets import near_square
from hockney.records.answers import RankPlace
from hockney.records.keys import CollectiveKey


def key(operation: str = "alltoall", algorithm: str = "default", ranks: int = 0, **more: Any) -> CollectiveKey:
    words = {"segment_B": 0, "radix": 0, "root": None, "cache": "warm", "start": "window", **more}
    return CollectiveKey(operation, algorithm, ranks, **words)


def asked(ranks: int, *keys: CollectiveKey, **more: Any) -> Asked:
    here = Here(
        pairs=[("cache", 0, 1)],
        localities=dict.fromkeys(combinations(range(ranks), 2), "cache"),
        ranks=[RankPlace(rank=rank, host="a") for rank in range(ranks)],
        **{"sizes_B": [64], "collectives": lambda _: keys or [key()], **more},
    )
    return ask("subsets", here)


def all_of(ranks: int, *keys: CollectiveKey, **more: Any) -> list[Question]:
    found = asked(ranks, *keys, **more)
    assert not whys(found)
    return questions(found)


def test_the_arrangements_are_blocks_and_strides() -> None:
    together = [one for one in all_of(8, key(ranks=4), simulated=True) if one.parameters["part"] == "together"]
    assert {one.parameters["arrangement"]: list(one.members) for one in together} == {
        "blocks": [0, 1, 2, 3, 4, 5, 6, 7],
        "strided": [0, 2, 4, 6, 1, 3, 5, 7],
    }
    alone = [one for one in all_of(8, key(ranks=4), simulated=True) if one.parameters["part"] == "alone"]
    assert [list(one.members) for one in alone] == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]]


def test_of_many_subsets_some_are_measured_alone_and_all_together() -> None:
    for one in all_of(36, key(ranks=3), simulated=True):
        if one.parameters["part"] == "together":
            assert sorted(one.members) == list(range(36))
    alone = [one for one in all_of(36, key(ranks=3), simulated=True) if one.parameters["part"] == "alone"]
    # Of twelve every third, in each arrangement.
    assert [one.parameters["subset"] for one in alone] == 2 * [0, 3, 6, 9]


@pytest.mark.parametrize(("ranks", "sides"), [(4, [2]), (6, [2, 3]), (8, [2, 4]), (16, [4]), (7, []), (2, [])])
def test_without_a_number_subsets_are_the_sides_of_the_squarest_grid(ranks: int, sides: list[int]) -> None:
    assert near_square(ranks) == sides
    found = asked(ranks)
    if sides:
        assert {one.parameters["ranks"] for one in questions(found)} == set(sides)
    else:
        assert [type(one) for one in found] == [NotMeasurable]


def test_subsets_that_do_not_divide_the_ranks_are_named_and_the_others_measured() -> None:
    found = asked(8, key(ranks=3), key(ranks=4), key(ranks=8))
    assert whys(found) == [
        "8 ranks are not two subsets or more of 3",
        "8 ranks are not two subsets or more of 8",
    ]
    assert {one.parameters["ranks"] for one in questions(found)} == {4}


def test_what_was_asked_of_the_algorithm_is_in_the_question() -> None:
    (first, *_) = all_of(8, key("bcast", "pipeline", 2, segment_B=16, radix=3), simulated=True)
    words = {name: first.parameters[name] for name in ("of", "algorithm", "segment_B", "radix", "bytes")}
    assert words == {"of": "bcast", "algorithm": "pipeline", "segment_B": 16, "radix": 3, "bytes": 64}


def test_visits_of_a_point_lie_apart() -> None:
    visits = [int(str(one.parameters["visit"])) for one in all_of(4)]
    assert visits == sorted(visits)
    assert set(visits) == {0, 1, 2, 3}


def test_where_each_algorithm_has_a_launch_of_its_own_it_is_said() -> None:
    (one,) = asked(8, collectives=lambda _: ())
    assert isinstance(one, NotMeasurable)
    assert "launch of their own" in one.why
