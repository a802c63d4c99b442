"""What the runner answers about overlap."""

from __future__ import annotations

from pydantic import Field

from hockney.records.answers import Answer
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Bracketed


class OverlapAnswer(Answer, Bracketed):
    """A transfer alone and beside a computation of `computation_s`; seconds, one entry a repetition.

    `done_early` of `tries` sends were done before their receive was posted. `tests`: calls of MPI_Test, which
    took `tests_s` together. `clock_s`: one reading of the clock. `disturbed`: 1 where the system took a processor
    away.
    """

    verified: bool
    done_early: int
    tries: int
    computation_s: float
    clock_s: float
    alone_s: list[float]
    total_s: list[float]
    start_s: list[float]
    wait_s: list[float]
    tests_s: list[float]
    tests: list[int]
    disturbed: list[int] = Field(default_factory=list)


effect_answers.register("overlap")(OverlapAnswer)
