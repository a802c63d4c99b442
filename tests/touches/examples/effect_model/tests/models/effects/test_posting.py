"""The model `posting`: the median call of each side, without the clock's own time."""

from __future__ import annotations

import pytest

from hockney.models.effects.base import effect_models
from hockney.records.effect_answers import OverlapAnswer
from hockney.records.effect_record import EffectRecord


def _record(side: str, calls_s: list[float]) -> EffectRecord:
    others_s = [0.0] * len(calls_s)
    answer = OverlapAnswer(
        verified=True,
        done_early=0,
        tries=0,
        computation_s=0.0,
        clock_s=1e-8,
        alone_s=others_s,
        total_s=others_s,
        start_s=calls_s,
        wait_s=others_s,
        tests_s=others_s,
        tests=[0] * len(calls_s),
    )
    return EffectRecord(effect="overlap", parameters={"side": side, "bytes": 8, "tests": 0}, answer=answer)


def test_the_call_is_its_time_less_a_reading_of_the_clock() -> None:
    records = [_record("sender", [2.1e-7, 2.2e-7, 1.0]), _record("receiver", [5.1e-7])]
    parameters = effect_models.get("posting")(records).parameters
    assert parameters["isend_s"].value == pytest.approx(2.1e-7)
    assert parameters["irecv_s"].value == pytest.approx(5e-7)
