"""The questions of `synchronisation` find planted limits to the byte, with few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, Question
from hockney.records.effect_answers import SynchronisationAnswer

S_B, ABSENT_B, ARRIVED_B = 4016, 256, 1000
TRANSFER_S = 1e-3


def here(**other: Any) -> Here:
    return Here(pairs=[("cache", 0, 1)], localities={(0, 1): "cache"}, ranks=[], **other)


def library(question: Question) -> SynchronisationAnswer:
    """A library with planted limits; one try of nine goes the wrong way, as on a noisy machine."""
    size_B, tries = int(str(question.parameters["bytes"])), int(str(question.parameters["tries"]))
    limit_B = S_B if question.parameters["receiver"] == "present" else ABSENT_B
    free = size_B <= limit_B
    return SynchronisationAnswer(
        done=tries - 1 if free else 1,
        valid=tries,
        sending_s=[TRANSFER_S / 100],
        receiving_s=[TRANSFER_S / 100 if size_B <= ARRIVED_B else TRANSFER_S],
        transfers_s=[TRANSFER_S],
        verified=True,
    )


def asked(place: Here, refuses: int | None = None, slow: Sequence[int] = ()) -> Asked:
    def answered(question: Question) -> SynchronisationAnswer | None:
        size_B = question.parameters["bytes"]
        late = {"receiving_s": [TRANSFER_S]} if size_B in slow else {}
        return None if size_B == refuses else library(question).model_copy(update=late)

    return ask("synchronisation", place, answered)


def sizes(found: Asked, receiver: str) -> set[int]:
    mine = [one.parameters for one in questions(found) if one.parameters["receiver"] == receiver]
    return {int(str(parameters["bytes"])) for parameters in mine}


def test_both_sides_of_each_limit_are_asked() -> None:
    found = asked(here())
    assert {S_B, S_B + 1, ARRIVED_B, ARRIVED_B + 1} <= sizes(found, "present")
    assert {ABSENT_B, ABSENT_B + 1} <= sizes(found, "absent")
    # 14 doublings and 11 halvings, 11 and 9, 10 and 7; many more would take too long.
    assert len(found) < 75


def test_a_slow_receive_of_a_short_message_does_not_end_the_search() -> None:
    assert {ARRIVED_B, ARRIVED_B + 1} <= sizes(asked(here(), slow=(1, 8)), "present")


def test_a_library_that_never_waits_is_asked_up_to_the_largest_and_no_further() -> None:
    assert max(sizes(asked(here(largest_B=2000)), "present")) == 2000


def test_a_refusal_ends_the_search() -> None:
    assert max(sizes(asked(here(), refuses=64), "present")) == 64


def test_a_receiver_that_computes_needs_a_core_of_its_own() -> None:
    found = asked(here(oversubscribed="oversubscribed: 2 ranks on 1 core"))
    assert sizes(found, "absent") == set()
    (why,) = whys(found)
    assert "2 ranks on 1 core" in why


@pytest.mark.parametrize(("budget_s", "tries"), [(1.0, 9), (0.1, 6)])
def test_a_short_campaign_tries_less_often(budget_s: float, tries: int) -> None:
    first = questions(asked(here(budget_s=budget_s)))[0]
    assert first.parameters["tries"] == tries
