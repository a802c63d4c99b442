"""Whatever the largest message may be, an effect asks for none longer, and says why where it asks nothing."""

from __future__ import annotations

from itertools import combinations

import pytest
from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, Question
from hockney.records.answers import Answer, RankPlace
from hockney.records.keys import CollectiveKey

NAMES = ("congestion", "datatypes", "injection", "matching", "overlap", "subsets", "synchronisation")
WITHOUT_BYTES = {"congestion", "datatypes", "injection", "subsets"}
"""A bandwidth, or a layout, needs bytes; a late receiver, a queue and a computation do not."""


def asked(name: str, largest_B: int) -> Asked:
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
    said = {"done": 9, "valid": 9, "receiving_s": [1e-7], "transfers_s": [1e-6], "sending_s": [1e-7]}
    said |= {"time_s": 1e-6, "pair_s": [1e-6], "samples_s": [1e-6], "preempted": 0, "verified": True}
    return ask(name, here, lambda _: Answer.model_validate(said))


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
    of_effect = questions(found)
    if largest_B == 0 and name in WITHOUT_BYTES:
        assert any("--largest" in why for why in whys(found))
        assert of_effect == []
    else:
        assert of_effect
        assert max(map(length_B, of_effect)) <= largest_B
