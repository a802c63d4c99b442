"""The model `posting`: the median call of each side, without the clock's own time."""

from __future__ import annotations

import pytest

from hockney.models.effects.base import effect_models
from hockney.records.effect_record import EffectRecord


def test_the_call_is_its_time_less_a_reading_of_the_clock() -> None:
    records = [
        EffectRecord(
            effect="overlap",
            parameters={"side": side},
            answer={"clock_s": 1e-8, "start_s": [call_s, call_s + 1e-8, 1.0]},
        )
        for side, call_s in (("sender", 2e-7), ("receiver", 5e-7))
    ]
    parameters = effect_models.get("posting")(records).parameters
    assert parameters["isend_s"].value == pytest.approx(2e-7)
    assert parameters["irecv_s"].value == pytest.approx(5e-7)
