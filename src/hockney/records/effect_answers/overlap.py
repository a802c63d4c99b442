"""What the runner answers about overlap."""

from __future__ import annotations

from pydantic import Field

from hockney.records.answers import Answer
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Bracketed, Real, Whole


class OverlapAnswer(Answer, Bracketed):
    """A transfer alone and beside a computation of `computation_s`; seconds, one entry a repetition.

    `done_early` of `tries` sends were done before their receive was posted. `tests`: calls of MPI_Test, which
    took `tests_s` together. `clock_s`: one reading of the clock. `disturbed`: 1 where the system took a processor
    away.
    """

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


effect_answers.register("overlap")(OverlapAnswer)
