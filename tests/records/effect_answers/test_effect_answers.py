"""An effect's answer is read by its own names, whoever wrote it down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from hockney.records.answers import Answer, StreamsAnswer, Timed
from hockney.records.effect_answers.matching import MatchingAnswer
from hockney.records.effect_answers.overlap import OverlapAnswer
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
