"""The answers of `hockney schedule` and `hockney simulate`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.api.schedules import (
    CountOfOne,
    CountOfSeveral,
    DrawAnswer,
    ExportAnswer,
    ListAnswer,
    ShowScheduleAnswer,
    VerifyAnswer,
)
from hockney.api.simulations import SimulatedCollective, SimulatedGoal

answer("schedule list")(ListAnswer)
answer("schedule verify")(VerifyAnswer)
answer("schedule show")(ShowScheduleAnswer)
answer("schedule count")(CountOfOne | CountOfSeveral)
answer("schedule draw")(DrawAnswer)
answer("schedule export")(ExportAnswer)
answer("simulate")(SimulatedCollective | SimulatedGoal)
