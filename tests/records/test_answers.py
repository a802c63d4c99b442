"""What the runner says is read by the names of its kind, and stored as it was said."""

from __future__ import annotations

import json

import pytest

from hockney.records.answers import (
    Hello,
    Measurement,
    Mistake,
    RankPlace,
    Refusal,
    Timed,
    parse,
)
from hockney.records.app_record import AppRecord
from hockney.records.effect_record import EffectRecord

MEASUREMENT = (
    '{"type":"measurement","median_s":1e-6,"low_s":9e-7,"high_s":1.1e-6,"quantiles_s":{"0.05":9e-7},'
    '"samples_s":[1e-6],"disturbed_at":[],"batch":8,"stop":"interval","verified":true,"elapsed_s":0.2,"same_cpu":0}'
)

MATCHING = {"queue": "posted", "source": "named", "by": "tag", "ahead": 0, "behind": 0}


def test_each_line_is_of_its_kind() -> None:
    point = parse(MEASUREMENT, Measurement)
    assert isinstance(point, Measurement)
    assert (point.median_s, point.batch, point.quantiles_s) == (1e-6, 8, {"0.05": 9e-7})
    refused = parse('{"type":"refused","reason":"memory","needed_B":4e9,"available_B":1e9}', Measurement)
    assert refused == Refusal(reason="memory", needed_B=4e9, available_B=1e9)
    assert parse('{"type":"error","message":"no such word"}', Timed) == Mistake(message="no such word")


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        "[1]",
        '{"median_s":1e-6}',
        '{"type":"record","time_s":1e-6}',
        MEASUREMENT.replace('"batch":8,', ""),
        MEASUREMENT.replace('"batch":8', '"batch":"many"'),
    ],
)
def test_what_is_damaged_or_of_another_kind_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(line, Measurement)


def test_a_number_that_is_not_finite_is_none() -> None:
    point = parse(MEASUREMENT.replace("1e-6,", "null,", 1), Measurement)
    assert isinstance(point, Measurement)
    assert point.median_s is None


def test_a_simulated_host_tells_its_name_alone() -> None:
    said = {"rank": 3, "host": "n1", "machine": "n1", "simulated": True, "kernel": "SimGrid"}
    place = RankPlace.model_validate(said)
    assert (place.cpu, place.package, place.caches, place.affinity) == (None, -1, [], [])
    assert place.model_dump() == said


def test_a_hello_without_what_older_libraries_lack() -> None:
    line = {
        "type": "hello", "protocol": 1, "library": "MPI", "standard": "3.1", "operations": [], "settings": {},
        "ranks": [{"rank": 0}], "clock_granularity_s": 1e-9,
    }  # fmt: skip
    hello = parse(json.dumps(line), Hello)
    assert isinstance(hello, Hello)
    assert (hello.mpi_t, hello.thread_level, hello.apps) == (True, "", [])


def test_an_answer_is_stored_as_it_was_said() -> None:
    """Words that no model names are kept, and none is added."""
    said = {"time_s": 1e-6, "low_s": None, "verified": True, "news": {"deep": [1, {"a": 2}]}}
    for record in (
        EffectRecord.model_validate({"effect": "matching", "parameters": MATCHING, "answer": said}),
        EffectRecord.model_validate({"effect": "of a newer version", "answer": said}),
        AppRecord.model_validate({"operation": "x", "ranks": 1, "parameters": {}, "time_s": 1, "answer": said}),
    ):
        assert json.loads(record.model_dump_json(exclude_defaults=True))["answer"] == said
        assert record.model_dump()["answer"] == said
