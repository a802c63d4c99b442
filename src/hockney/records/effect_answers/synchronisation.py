"""What the runner answers about synchronisation."""

from __future__ import annotations

from hockney.records.answers import Answer
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Bracketed


class SynchronisationAnswer(Answer, Bracketed):
    """Sends whose receiver is late: `done` of `valid` tries ended before it came; `spoilt` tries are left out.

    Seconds, one entry for each try: of the send, of the late receive, and of transfers whose receiver waits.
    """

    verified: bool
    done: int
    valid: int
    spoilt: int = 0
    patience_s: float | None = None
    absence_s: float | None = None
    transfers_s: list[float]
    sending_s: list[float]
    receiving_s: list[float]


effect_answers.register("synchronisation")(SynchronisationAnswer)
