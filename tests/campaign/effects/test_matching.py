"""What is asked about `matching`: both queues, depths and positions, by tag and by source."""

from __future__ import annotations

from typing import Any

import pytest

from hockney.campaign.effects.base import Here, NotMeasurable, Question, effects


def asked(ranks: int = 2, **choices: Any) -> list[Question | NotMeasurable]:
    here = Here(**{"pairs": [("cache", 0, 1)], "localities": {(0, 1): "cache"}, "ranks": [{}] * ranks, **choices})
    return list(effects.get("matching")(here))


def questions(ranks: int = 2) -> list[Question]:
    return [one for one in asked(ranks) if isinstance(one, Question)]


@pytest.mark.parametrize("queue", ["posted", "unexpected"])
def test_the_match_is_first_in_the_middle_and_last(queue: str) -> None:
    places = {
        (one.parameters["ahead"], one.parameters["behind"])
        for one in questions()
        if one.parameters["queue"] == queue and one.parameters["source"] == "named"
    }
    assert {(0, 4096), (2048, 2048), (4096, 0), (0, 0), (1, 0)} <= places
    assert max(ahead + behind for ahead, behind in places) == 4096  # type: ignore[operator]


def test_any_source_is_asked_for_too() -> None:
    assert {one.parameters["source"] for one in questions()} == {"named", "any"}


def test_matching_by_source_needs_a_third_rank_and_says_so() -> None:
    assert all(one.parameters["by"] == "tag" and len(one.members) == 2 for one in questions(2))
    (why,) = [one.why for one in asked(2) if isinstance(one, NotMeasurable)]
    assert "third rank" in why
    by_source = [one for one in questions(3) if one.parameters["by"] == "source"]
    assert {one.parameters["queue"] for one in by_source} == {"posted", "unexpected"}
    assert {tuple(one.members) for one in by_source} == {(0, 1, 2)}
    assert not [one for one in asked(3) if isinstance(one, NotMeasurable)]


def test_nothing_is_asked_twice_and_nothing_planted() -> None:
    words = [str((one.members, one.parameters)) for one in questions(3)]
    assert len(set(words)) == len(words)
    assert {one.parameters["planted_entry_s"] for one in questions(3)} == {0}


@pytest.mark.parametrize(
    ("choice", "word"),
    [({"simulated": True}, "simulation"), ({"oversubscribed": "3 ranks on 2"}, "3 ranks on 2")],
)
def test_what_cannot_be_measured_says_why(choice: dict[str, Any], word: str) -> None:
    (only,) = asked(**choice)
    assert isinstance(only, NotMeasurable)
    assert word in only.why
