"""Whatever the largest message may be, an effect asks for none longer, and says why where it asks nothing."""

from __future__ import annotations

from itertools import combinations

import pytest

from hockney.campaign.effects.base import Here, NotMeasurable, Question, effects
from hockney.records.answers import Answer, RankPlace
from hockney.records.keys import CollectiveKey

NAMES = ("congestion", "datatypes", "injection", "matching", "overlap", "subsets", "synchronisation")
WITHOUT_BYTES = {"congestion", "datatypes", "injection", "subsets"}
"""A bandwidth, or a layout, needs bytes; a late receiver, a queue and a computation do not."""


def asked(name: str, largest_B: int) -> list[Question | NotMeasurable]:
    """What is asked of four cores of a host whose answers are all the same."""
    # Subsets need four ranks.
    places = [RankPlace(rank=rank, host="a", cpus=4, affinity=[rank], siblings=[rank]) for rank in range(4)]
    here = Here(
        pairs=[("cache", 0, 1)],
        localities=dict.fromkeys(combinations(range(4), 2), "cache"),
        ranks=places,
        largest_B=largest_B,
        collectives=lambda name: [CollectiveKey(name, "default", 0, 0, 0, None, "warm", "window")],
    )
    said = {
        "done": 9,
        "valid": 9,
        "receiving_s": [1e-7],
        "transfers_s": [1e-6],
        "time_s": 1e-6,
        "pair_s": [1e-6],
        "samples_s": [1e-6],
        "preempted": 0,
        "sending_s": [1e-7],
        "verified": True,
    }
    asking = effects.get(name)(here)
    found: list[Question | NotMeasurable] = []
    answer: Answer | None = None
    while True:
        try:
            found.append(asking.send(answer))
        except StopIteration:
            return found
        answer = Answer.model_validate(said) if isinstance(found[-1], Question) else None


def length_B(question: Question) -> int:
    asked = {
        key: int(str(value))
        for key, value in question.parameters.items()
        if key in ("bytes", "blocks", "block_B")
    }
    return asked.get("bytes", asked.get("blocks", 0) * asked.get("block_B", 0))


@pytest.mark.parametrize("largest_B", [0, 1, 4, 100])
@pytest.mark.parametrize("name", NAMES)
def test_no_message_is_longer_than_the_largest(name: str, largest_B: int) -> None:
    found = asked(name, largest_B)
    questions = [one for one in found if isinstance(one, Question)]
    if largest_B == 0 and name in WITHOUT_BYTES:
        assert [one.why for one in found if isinstance(one, NotMeasurable) and "--largest" in one.why]
        assert questions == []
    else:
        assert questions
        assert max(map(length_B, questions)) <= largest_B
