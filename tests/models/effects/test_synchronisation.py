"""The limits of a protocol from planted answers, and where the answers do not tell them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.answers import answering

from hockney.errors import RequestError
from hockney.models.effects.base import effect_models
from hockney.records.effect_answers import SynchronisationAnswer
from hockney.records.effect_record import EffectRecord

TRANSFER_S = 1e-3
AROUND = (0, 1, 64, 255, 256, 257, 1000, 1001, 2048, 4015, 4016, 4017, 8192)


def record(
    size_B: int, receiver: str, done: int, late_s: float = TRANSFER_S, tries: int = 9, **about: Any
) -> EffectRecord:
    return EffectRecord(
        effect="synchronisation",
        locality="cache",
        parameters={"bytes": size_B, "receiver": receiver, "patience_s": 2e-4, "tries": tries},
        answer=SynchronisationAnswer.model_validate(
            {
                "done": done,
                "valid": tries,
                "receiving_s": [3 * late_s, late_s],
                "transfers_s": [2 * TRANSFER_S, TRANSFER_S],
                "sending_s": [1e-6],
                "verified": True,
            }
        ),
        about=about,
    )


fit = effect_models.get("synchronisation")


def library(
    present_B: int = 4016, absent_B: int = 256, arrived_B: int = 1000, **about: Any
) -> list[EffectRecord]:
    """Nine tries of each size; one of nine goes wrong."""
    late = {size: TRANSFER_S / 20 if size <= arrived_B else TRANSFER_S for size in AROUND}
    return [
        record(size, receiver, 8 if size <= limit else 1, late[size], **about)
        for receiver, limit in (("present", present_B), ("absent", absent_B))
        for size in AROUND
    ]


def test_each_limit_is_found_to_the_byte() -> None:
    found = fit(library())
    values = {name: one.value for name, one in found.parameters.items()}
    assert values == {"S_B": 4016, "S_absent_B": 256, "arrived_B": 1000}
    assert found.not_identified == {}
    limit = found.parameters["S_B"]
    # One wrong of nine excludes chance at 95 % (p = 0.04), so the interval is a point.
    assert (limit.low, limit.high) == (4016, 4016)
    assert [one.where for one in found.views.exact] == ["n ≤ 256 B", "256 B < n ≤ 4016 B", "n > 4016 B"]


def test_a_size_of_mixed_answers_widens_the_interval() -> None:
    records = [one for one in library() if one.parameters["bytes"] not in (4016, 4017)]
    found = fit([*records, record(4016, "present", 6), record(4017, "present", 3)])
    limit = found.parameters["S_B"]
    assert (limit.value, limit.low, limit.high) == (4016, 4015, 8191)


def test_launches_are_counted_together() -> None:
    twice = [record(4016, "present", 2), record(4016, "present", 9), record(4017, "present", 0)]
    assert fit([record(1, "present", 9), *twice]).parameters["S_B"].value == 4016


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (4016, "agrees"),
        (4096, "80 B of which"),
        (4216, "200 B of which"),
        (4300, "disagrees"),
        (4000, "disagrees"),
        (65536, "disagrees"),
    ],
)
def test_the_librarys_own_limit_stands_beside(stated: int, says: str) -> None:
    found = fit(library(eager_limit_B={"shared_memory": stated, "network": 1}))
    assert any(says in note for note in found.notes)
    assert found.parameters["library_limit_B"].value == stated
    assert ("header_B" in found.parameters) == ("disagrees" not in says)


@pytest.mark.parametrize(
    ("stated", "says"), [(4096, "undecided"), (8000, "undecided"), (1500, "disagrees"), (9000, "disagrees")]
)
def test_a_bisection_that_was_cut_short_disagrees_with_what_it_excludes_only(stated: int, says: str) -> None:
    about: dict[str, Any] = {"eager_limit_B": {"shared_memory": stated}}
    found = fit([record(2048, "present", 9, **about), record(8192, "present", 0, **about)])
    assert (found.parameters["S_B"].low, found.parameters["S_B"].high) == (2048, 8191)
    assert any(says in note for note in found.notes)
    assert "header_B" not in found.parameters


@pytest.mark.parametrize(("last", "first"), [(4000, 4201), (3000, 4051)], ids=["above", "too far below"])
def test_a_bracket_that_agrees_in_part_is_not_told(last: int, first: int) -> None:
    about: dict[str, Any] = {"eager_limit_B": {"shared_memory": 4096}}
    found = fit([record(last, "present", 9, **about), record(first, "present", 0, **about)])
    assert any("undecided" in note for note in found.notes)
    assert "header_B" not in found.parameters


def test_a_header_is_as_uncertain_as_the_limit() -> None:
    about: dict[str, Any] = {"eager_limit_B": {"shared_memory": 4096}}
    found = fit([record(3950, "present", 9, **about), record(4001, "present", 0, **about)])
    header = found.parameters["header_B"]
    assert (header.value, header.low, header.high) == (146, 96, 146)


@pytest.mark.parametrize(("tries", "low", "high"), [(5, None, None), (6, 4016, 4016)])
def test_too_few_tries_give_no_interval(tries: int, low: int | None, high: int | None) -> None:
    """All right: p = 2 · 0.5^tries, 0.06 of five and 0.03 of six."""
    found = fit([record(4016, "present", tries, tries=tries), record(4017, "present", 0, tries=tries)])
    limit = found.parameters["S_B"]
    assert (limit.value, limit.low, limit.high) == (4016, low, high)


def test_a_library_that_says_nothing_of_itself_is_not_compared() -> None:
    assert any("does not state" in note for note in fit(library()).notes)


def test_no_limit_below_the_largest_is_not_identified() -> None:
    found = fit(library(present_B=10**9, absent_B=10**9, arrived_B=10**9))
    assert set(found.not_identified) == {"S_B", "S_absent_B", "arrived_B"}
    assert all("--largest" in why for why in found.not_identified.values())
    assert found.views.exact == []


def test_a_sender_that_always_waits_has_the_limit_zero() -> None:
    found = fit([record(0, "present", 0, simulated=True)])
    assert found.parameters["S_B"].value == 0
    assert "S_absent_B" in found.not_identified


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ([(998, 0.48), (999, 0.49), (1000, 0.51), (1001, 0.52)], "without a step"),
        ([(999, 0.1), (1000, 1.0), (2048, 0.2)], "again"),
    ],
)
def test_a_smooth_passage_and_one_that_is_quick_again_are_no_limit(
    times: list[tuple[int, float]], why: str
) -> None:
    found = fit([record(size, "present", 9, share * TRANSFER_S) for size, share in times])
    assert why in found.not_identified["arrived_B"]


@pytest.mark.parametrize(("done", "advice"), [(9, "up to 64 B: measure with a larger --largest"), (0, "nodes")])
def test_a_search_that_the_largest_message_ended_asks_for_a_larger_one(done: int, advice: str) -> None:
    tries = [(0, 9, 0.1), (1, 9, 1.0), (16, 9, 0.2), (64, done, 0.2)]
    found = fit([record(size, "present", n, share * TRANSFER_S) for size, n, share in tries])
    assert advice in found.not_identified["arrived_B"]


def test_nothing_but_an_empty_message_arrives_where_one_byte_is_a_step() -> None:
    times = [(0, 0.05), (1, 0.9), (2, 0.95)]
    arrived = fit([record(size, "present", 9, share * TRANSFER_S) for size, share in times]).parameters[
        "arrived_B"
    ]
    assert (arrived.value, arrived.low, arrived.high) == (0, 0, 0)


@pytest.mark.parametrize(
    "times",
    [[(0, 0.05), (1, 0.6), (16, 0.2)], [(0, 0.6), (1, 0.6)], [(1, 0.6), (2, 0.9)], [(0, 0.45), (1, 0.6)]],
    ids=["quick again", "never quick", "not asked", "no step"],
)
def test_a_slow_byte_alone_does_not_say_that_nothing_arrives(times: list[tuple[int, float]]) -> None:
    found = fit([record(size, "present", 9, share * TRANSFER_S) for size, share in times])
    assert "arrived_B" in found.not_identified
    assert "arrived_B" not in found.parameters


def test_damaged_messages_prove_nothing() -> None:
    damaged = answering(record(1, "present", 9), verified=False)
    with pytest.raises(RequestError, match="damaged"):
        fit([damaged])
