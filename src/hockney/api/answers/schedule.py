"""The answers of `hockney schedule` and `hockney simulate`."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.api.simulations import SimulatedCollective, SimulatedGoal


class KnownAlgorithm(TypedDict):
    """What an algorithm is."""

    collective: str
    algorithm: str
    segmented: bool
    radix: int | None
    least_radix: int | None
    ordered: bool
    ranks: str
    offered: bool


@answer("schedule list")
class ListAnswer(TypedDict):
    """Every algorithm."""

    algorithms: list[KnownAlgorithm]


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


class ProvedAlgorithm(TypedDict):
    """How many cases were proved."""

    collective: str
    algorithm: str
    proved: int
    refused: int
    complaints: list[str]


@answer("schedule verify")
class VerifyAnswer(TypedDict):
    """Proofs."""

    proved: int
    algorithms: list[ProvedAlgorithm]


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


answer("simulate")(SimulatedCollective | SimulatedGoal)
