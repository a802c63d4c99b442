"""An effect's answer is read by its own names, whoever wrote it down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from hockney.records.answers import Answer, StreamsAnswer, Timed
from hockney.records.effect_answers import MatchingAnswer, OverlapAnswer, SynchronisationAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.records.folder import EFFECTS, Campaign


@pytest.mark.parametrize(
    ("effect", "needed"),
    [
        ("congestion", "time_s"),
        ("datatypes", "extent_B"),
        ("injection", "verified"),
        ("matching", "time_s"),
        ("overlap", "alone_s"),
        ("subsets", "verified"),
        ("synchronisation", "transfers_s"),
    ],
)
def test_an_answer_that_lacks_what_its_effect_needs_is_refused(effect: str, needed: str) -> None:
    with pytest.raises(ValidationError, match=rf"(?m)^answer\.{needed}\n  Field required"):
        EffectRecord.model_validate({"effect": effect, "answer": {}})


MATCHING = {"queue": "posted", "source": "named", "by": "tag", "ahead": 0, "behind": 0}


def test_an_effect_s_answer_is_of_its_own_kind_when_it_is_read_back() -> None:
    record = EffectRecord.model_validate_json(
        json.dumps({"effect": "matching", "parameters": MATCHING, "answer": {"time_s": 1e-6}})
    )
    assert record.answer == MatchingAnswer(time_s=1e-6)
    assert answered(record, Timed) is record.answer
    newer = EffectRecord.model_validate_json('{"effect":"newer","answer":{"time_s":1e-6}}')
    assert type(newer.answer) is Answer
    assert answered(newer, Timed).time_s == 1e-6
    with pytest.raises(ValueError, match="verified: Field required"):
        answered(newer, StreamsAnswer)
    with pytest.raises(ValueError, match="nothing was answered about overlap"):
        answered(EffectRecord(effect="overlap", not_measurable="one core"), OverlapAnswer)


def test_answers_of_older_runners_are_read(tmp_path: Path) -> None:
    """Before disturbed repetitions were told, and what streams leave out; a damaged line is named."""
    overlap = {
        "done_early": 5, "tries": 5, "computation_s": 2e-5, "clock_s": 3e-8, "verified": True, "tests": [0, 0],
        **{name: [1e-5, 1e-5] for name in ("alone_s", "total_s", "start_s", "wait_s", "tests_s")},
    }  # fmt: skip
    alone = {"pattern": "alone", "bytes": 8, "window": 1}
    streams = {"time_s": 1e-3, "samples_s": [1e-3], "disturbed_at": [], "pair_s": [1e-3], "verified": True}
    lines = [
        {"effect": "overlap", "parameters": {"bytes": 8, "side": "sender", "tests": 0}, "answer": overlap},
        {"effect": "congestion", "parameters": alone, "answer": streams},
        {"effect": "congestion", "parameters": alone, "answer": {"verified": True, "samples_s": [1e-3]}},
    ]
    folder = Campaign.create(tmp_path / "c", {})
    (folder.path / EFFECTS).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    first, second = folder.effects()
    assert answered(first, OverlapAnswer).disturbed == []
    assert answered(second, StreamsAnswer).preempted == 0
    assert len(folder.warnings) == 1
    assert f"{EFFECTS}:3: damaged line skipped (answer.time_s: Field required)" in folder.warnings[0]


STREAMS = {"time_s": 1e-3, "samples_s": [1e-3], "pair_s": [1e-3], "verified": True}
SUBSETS = {
    "of": "bcast", "algorithm": "default", "ranks": 2, "bytes": 8, "arrangement": "blocks", "part": "alone",
}  # fmt: skip
SUBSET = {"time_s": 1e-3, "samples_s": [1e-3], "slowest_s": [1e-3], "subset_s": [1e-3], "verified": True}
LAYOUT = {"bytes": 8, "blocks": 1, "lines": 1, "accesses": 1, "extent_B": 8, "time_s": 1e-6}


@pytest.mark.parametrize(
    ("effect", "asked", "answer"),
    [
        ("congestion", {"pattern": "alone", "bytes": 8, "window": 0}, STREAMS),
        ("congestion", {"pattern": "alone", "bytes": "many", "window": 1}, STREAMS),
        ("congestion", {"pattern": "drawn", "draw": 1, "bytes": 8, "window": 1}, STREAMS),
        ("congestion", {"pattern": "topology", "bytes": 8, "window": 1}, STREAMS),
        ("congestion", {"pattern": "alone", "bytes": 8, "window": 1}, STREAMS | {"pair_s": [0.0]}),
        ("congestion", {"pattern": "alone", "bytes": 8, "window": 1}, STREAMS | {"disturbed_at": [1]}),
        ("injection", {"bytes": 8}, STREAMS),
        ("matching", {**MATCHING, "ahead": -1}, {"time_s": 1e-6}),
        ("matching", {**MATCHING, "queue": None}, {"time_s": 1e-6}),
        ("datatypes", {"way": "send", "layout": "vector"}, LAYOUT),
        ("datatypes", {"way": "send", "layout": "contiguous"}, LAYOUT | {"blocks": 0}),
        ("datatypes", {"way": "send", "layout": "contiguous"}, LAYOUT | {"bytes": 9}),
        ("overlap", {"bytes": 8, "side": "middle", "tests": 0}, {}),
        ("subsets", SUBSETS | {"ranks": 1}, SUBSET),
        ("subsets", SUBSETS | {"arrangement": "as they come"}, SUBSET),
        ("subsets", SUBSETS, SUBSET | {"slowest_s": []}),
    ],
)
def test_a_question_or_an_answer_that_no_model_can_read_is_refused(
    effect: str, asked: dict[str, object], answer: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        EffectRecord.model_validate({"effect": effect, "parameters": asked, "answer": answer})


@pytest.mark.parametrize(
    "about",
    [{"eager_limit_B": {"network": "big"}}, {"eager_limit_B": [1]}, {"simulated": "who knows"}, {"caches": [7]}],
)
def test_what_else_a_model_must_know_has_its_types(about: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        EffectRecord.model_validate({"effect": "overlap", "not_measurable": "why", "about": about})


def test_repetitions_have_all_their_times() -> None:
    names = ("alone_s", "total_s", "start_s", "wait_s", "tests_s", "tests")
    answer = {
        "done_early": 1, "tries": 1, "computation_s": 1e-6, "clock_s": 1e-8, "verified": True,
        **{name: [1, 1] for name in names},
    }  # fmt: skip
    OverlapAnswer.model_validate(answer)
    damages: list[dict[str, list[int]]] = [{"tests": [1]}, {"disturbed": [0]}, {name: [] for name in names}]
    for damage in damages:
        with pytest.raises(ValidationError, match="not every repetition"):
            OverlapAnswer.model_validate(answer | damage)
    tried = {"done": 1, "valid": 1, "verified": True, "transfers_s": [1e-6], "sending_s": [1e-6]}
    SynchronisationAnswer.model_validate(tried | {"receiving_s": [1e-6]})
    with pytest.raises(ValidationError, match="tries without times"):
        SynchronisationAnswer.model_validate(tried | {"receiving_s": []})
