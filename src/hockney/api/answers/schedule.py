"""The answers of `hockney schedule` and `hockney simulate`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.api.schedules import (
    CountOfOne,
    CountOfSeveral,
    DrawnSchedule,
    ExportedSchedule,
    ListAnswer,
    ShownSchedule,
    VerifyAnswer,
)
from hockney.api.simulations import SimulatedCollective, SimulatedGoal

answer("schedule list")(ListAnswer)
answer("schedule verify")(VerifyAnswer)
answer("schedule show")(ShownSchedule)
answer("schedule count")(CountOfOne | CountOfSeveral)
answer("schedule draw")(DrawnSchedule)
answer("schedule export")(ExportedSchedule)
answer("simulate")(SimulatedCollective | SimulatedGoal)
