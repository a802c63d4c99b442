"""What the runner answers about synchronisation."""

from __future__ import annotations

from hockney.records.answers import Answer
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Bracketed, Real, Whole


class SynchronisationAnswer(Answer, Bracketed):
    """Sends whose receiver is late: `done` of `valid` tries ended before it came; `spoilt` tries are left out.

    Seconds, one entry for each try: of the send, of the late receive, and of transfers whose receiver waits.
    """

    verified: bool
    done: Whole
    valid: Whole
    spoilt: Whole = 0
    patience_s: Real | None = None
    absence_s: Real | None = None
    transfers_s: list[Real]
    sending_s: list[Real]
    receiving_s: list[Real]


effect_answers.register("synchronisation")(SynchronisationAnswer)
