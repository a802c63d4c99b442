"""S of LogGPS: the largest message whose sender does not wait for its receiver."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.campaign.effect_record import EffectRecord
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect, effect_models


@effect_models.register("synchronisation")
def fit(records: Sequence[EffectRecord]) -> Effect:
    """The bracket of sizes between the last sender that went on and the first that waited."""
    waits = {
        int(one.parameters["bytes"]): one.answer["time_s"] > one.parameters["delay_s"] / 2 for one in records
    }
    free = max((size for size, waited in waits.items() if not waited), default=0)
    return Effect(effect="synchronisation", parameters={"S": Parameter(value=free, unit="B")})
