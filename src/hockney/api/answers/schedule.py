"""The answers of `hockney schedule` and `hockney simulate`."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.api.schedules import ListAnswer, VerifyAnswer

answer("schedule list")(ListAnswer)
answer("schedule verify")(VerifyAnswer)


class AskedSizes(TypedDict):
    """As asked, before rounding to whole elements."""

    bytes: int
    segment_bytes: int | None


class Problem(TypedDict):
    """What is done; null: no segments, no radix."""

    asked: AskedSizes
    bytes: int
    element_bytes: int
    segment_bytes: int | None
    radix: int | None
    root: int


class Memory(TypedDict):
    memory: str
    offset_B: int
    length_B: int


Step = TypedDict(
    "Step",
    {
        "kind": str,
        "peer": int | None,
        "tag": int | None,
        "from": Memory | None,
        "into": Memory | None,
        "after": list[int],
    },
)


class RankSteps(TypedDict):
    """The steps of one rank."""

    scratch_B: int
    steps: list[Step]


@answer("schedule show")
class ShowScheduleAnswer(Problem):
    """Steps by rank."""

    collective: str
    algorithm: str
    ranks: dict[str, RankSteps]


class CriticalCounts(TypedDict):
    """On the critical path."""

    messages: int
    bytes: int


class Counts(TypedDict):
    """Messages and bytes of one algorithm."""

    algorithm: NotRequired[str]
    problem: Problem
    rounds: int
    messages: int
    bytes: int
    critical_path: CriticalCounts
    max_degree: int
    round_bytes: int
    reduced_bytes: int
    copied_bytes: int
    most_sent_bytes: int
    most_received_bytes: int


class CountOfOne(Counts):
    """Of the one that was named."""

    collective: str
    ranks: int
    root: int


class CountOfSeveral(TypedDict):
    """Of several."""

    collective: str
    ranks: int
    root: int
    algorithms: dict[str, Counts]


answer("schedule count")(CountOfOne | CountOfSeveral)


@answer("schedule draw")
class DrawAnswer(Problem):
    """The figure that was written."""

    figure: str
    style: str


@answer("schedule export")
class ExportAnswer(Problem):
    """The text that was written."""

    file: str
    format: str
    characters: int


Sourced = TypedDict("Sourced", {"value": float | None, "from": str})


class SimulatedPath(TypedDict):
    """What the last rank waited for."""

    latencies: int
    send_overheads: int
    receive_overheads: int
    gaps: int
    handshakes: int
    bytes: int
    reduced_bytes: int
    copied_bytes: int
    terms_s: dict[str, float]


class Simulated(TypedDict):
    """Times of all ranks."""

    ranks: int
    parameters: dict[str, dict[str, Sourced]]
    warnings: list[str]
    noise_s: float
    seed: int | None
    method: str
    makespan_s: float
    mean_over_ranks_s: float
    min_over_ranks_s: float
    messages: int
    engine_s: float
    critical_path: NotRequired[SimulatedPath]
    per_rank: NotRequired[str]
    trace: NotRequired[str]


class SimulatedCollective(Simulated):
    """Of a collective."""

    collective: str
    algorithm: str
    bytes: int
    root: int
    segment_bytes: int | None
    radix: int | None


class SimulatedGoal(Simulated):
    """Of a GOAL file."""

    goal: str
    tick_s: float


answer("simulate")(SimulatedCollective | SimulatedGoal)
