"""Whether a send waits for its receiver: the receiver comes late, at doubling sizes."""

from __future__ import annotations

from hockney.campaign.effects.base import Asking, Here, Question, effects

DELAY_S = 2e-3


@effects.register("synchronisation")
def ask(here: Here) -> Asking:
    """Sizes double until the sender has waited for its receiver."""
    for locality, a, b in here.pairs:
        size_B = 1
        while size_B <= here.largest_B:
            answer = yield Question((a, b), {"bytes": size_B, "delay_s": DELAY_S, **here.timing(0.2)}, locality)
            if answer is not None and answer["time_s"] > DELAY_S / 2:
                break
            size_B *= 2
