"""The size at which a sender starts to wait, from planted answers of the runner."""

from __future__ import annotations

from hockney.campaign.effect_record import EffectRecord
from hockney.models.effects.base import effect_models

DELAY_S = 1e-3


def test_the_last_sender_that_went_on_is_found() -> None:
    records = [
        EffectRecord(
            effect="synchronisation",
            parameters={"bytes": size_B, "delay_s": DELAY_S},
            answer={"time_s": 1e-6 if size_B <= 4096 else DELAY_S},
        )
        for size_B in (1024, 4096, 8192)
    ]
    assert effect_models.get("synchronisation")(records).parameters["S"].value == 4096
