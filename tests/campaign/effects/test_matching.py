"""What is asked about `matching`: both queues, depths and positions, by tag and by source."""

from __future__ import annotations

from typing import Any

import pytest
from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, NotMeasurable, Question


def asked(effect: str = "matching", ranks: int = 2, **choices: Any) -> Asked:
    here = Here(**{"pairs": [("cache", 0, 1)], "localities": {(0, 1): "cache"}, "ranks": [{}] * ranks, **choices})
    return ask(effect, here)


def of(ranks: int = 2) -> list[Question]:
    return questions(asked(ranks=ranks))


@pytest.mark.parametrize("queue", ["posted", "unexpected"])
def test_the_match_is_first_in_the_middle_and_last(queue: str) -> None:
    places = {
        (one.parameters["ahead"], one.parameters["behind"])
        for one in of()
        if one.parameters["queue"] == queue and one.parameters["source"] == "named"
    }
    assert {(0, 4096), (2048, 2048), (4096, 0), (0, 0), (1, 0)} <= places
    assert max(ahead + behind for ahead, behind in places) == 4096  # type: ignore[operator]


def test_any_source_is_asked_for_too() -> None:
    assert {one.parameters["source"] for one in of()} == {"named", "any"}


def test_matching_by_source_needs_a_third_rank_and_says_so() -> None:
    assert all(one.parameters["by"] == "tag" and len(one.members) == 2 for one in of(2))
    (why,) = whys(asked(ranks=2))
    assert "third rank" in why
    by_source = [one for one in of(3) if one.parameters["by"] == "source"]
    assert {one.parameters["queue"] for one in by_source} == {"posted", "unexpected"}
    assert {tuple(one.members) for one in by_source} == {(0, 1, 2)}
    assert not whys(asked(ranks=3))


def test_nothing_is_asked_twice_and_nothing_planted() -> None:
    words = [str((one.members, one.parameters)) for one in of(3)]
    assert len(set(words)) == len(words)
    assert {one.parameters["planted_entry_s"] for one in of(3)} == {0}


@pytest.mark.parametrize(
    ("choice", "word"),
    [({"simulated": True}, "simulation"), ({"oversubscribed": "3 ranks on 2"}, "3 ranks on 2")],
)
@pytest.mark.parametrize("effect", ["matching", "datatypes"])
def test_what_cannot_be_measured_says_why(effect: str, choice: dict[str, Any], word: str) -> None:
    (only,) = asked(effect, **choice)
    assert isinstance(only, NotMeasurable)
    assert word in only.why
