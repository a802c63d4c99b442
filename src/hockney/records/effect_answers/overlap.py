"""What the runner answers about overlap."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from hockney.records.answers import Answer, Asked
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Bracketed, Count, Real, Whole


class OverlapAsked(Asked):
    """A message of `bytes`, and on which side something is computed, with so many calls of MPI_Test."""

    bytes: Count
    side: Literal["sender", "receiver"]
    tests: Count


class OverlapAnswer(Answer, Bracketed):
    """A transfer alone and beside a computation of `computation_s`; seconds, one entry a repetition.

    `done_early` of `tries` sends were done before their receive was posted. `tests`: calls of MPI_Test, which
    took `tests_s` together. `clock_s`: one reading of the clock. `disturbed`: 1 where the system took a processor
    away.
    """

    ASKED = OverlapAsked

    verified: bool
    done_early: Whole
    tries: Whole
    computation_s: Real
    clock_s: Real
    alone_s: list[Real]
    total_s: list[Real]
    start_s: list[Real]
    wait_s: list[Real]
    tests_s: list[Real]
    tests: list[Whole]
    disturbed: list[Whole] = Field(default_factory=list)

    @model_validator(mode="after")
    def _repetitions_fit(self) -> Self:
        lists = (self.alone_s, self.total_s, self.start_s, self.wait_s, self.tests_s, self.tests)
        if not self.alone_s or len({len(each) for each in lists} | {len(self.disturbed or self.tests)}) > 1:
            raise ValueError("not every repetition has all of its times")
        return self


effect_answers.register("overlap")(OverlapAnswer)
