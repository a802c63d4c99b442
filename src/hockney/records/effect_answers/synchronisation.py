"""What the runner answers about synchronisation."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from hockney.records.answers import Answer, Asked
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Bracketed, Count, Real, Whole


class SynchronisationAsked(Asked):
    """A message of `bytes` to a receiver that waits in MPI (`present`) or computes (`absent`)."""

    bytes: Count
    receiver: str


class SynchronisationAnswer(Answer, Bracketed):
    """Sends whose receiver is late: `done` of `valid` tries ended before it came; `spoilt` tries are left out.

    Seconds, one entry for each try: of the send, of the late receive, and of transfers whose receiver waits.
    """

    ASKED = SynchronisationAsked

    verified: bool
    done: Whole
    valid: Whole
    spoilt: Whole = 0
    patience_s: Real | None = None
    absence_s: Real | None = None
    transfers_s: list[Real]
    sending_s: list[Real]
    receiving_s: list[Real]

    @model_validator(mode="after")
    def _tries_fit(self) -> Self:
        if self.valid > 0 and not (self.sending_s and self.receiving_s and self.transfers_s):
            raise ValueError("tries without times")
        return self


effect_answers.register("synchronisation")(SynchronisationAnswer)
