"""Time of the call that starts a transfer, from the answers about overlap: the median over all transfers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.models.effects.base import Effect, effect_models
from hockney.records.effect_answers import OverlapAnswer
from hockney.records.effect_record import EffectRecord, answered

CALLS = {"sender": "isend_s", "receiver": "irecv_s"}


@effect_models.register("posting", "What the call that starts a transfer costs.", reads="overlap")
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """`isend_s` and `irecv_s`, each less one reading of the clock."""
    for side, name in CALLS.items():
        answers = [answered(record, OverlapAnswer) for record in records if record.parameters["side"] == side]
        calls_s = [start_s - answer.clock_s for answer in answers for start_s in answer.start_s]
        if calls_s:
            effect.know(name, max(0.0, float(np.median(calls_s))), "s")
            effect.state("exact", f"T = {effect.parameters[name].value:.3g} s", name)
