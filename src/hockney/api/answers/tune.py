"""The answers of `hockney tune`, `apply` and `profile`."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.records.verification import Verification
from hockney.runner.applied import Applied

answer("apply")(Applied)


class TunedRule(TypedDict):
    """A rule; null is no bound."""

    operation: str
    least_ranks: int
    most_ranks: int | None
    least_bytes: int
    most_bytes: int | None
    algorithm: str
    segment_bytes: int
    radix: int


class TunedCell(TypedDict):
    """What is taken for one number of ranks and size; null: the default."""

    operation: str
    ranks: int
    bytes: int
    origin: str
    algorithm: str | None
    default_s: float
    time_s: float
    gain: float
    gain_low: float
    gain_high: float
    regret: float


class Merging(TypedDict):
    """What rules for several cells cost."""

    mean: float
    most: float


@answer("tune")
class TuneAnswer(TypedDict):
    """The rules that were written."""

    file: str
    target: str
    library: str
    tried: bool
    proof: str
    rules: list[TunedRule]
    refused: list[str]
    cells: list[TunedCell]
    launches: int | None
    intervals: str
    points_of_another_level: int
    merging_costs: Merging
    settings: dict[str, str]
    caution: str
    verification: NotRequired[Verification]


@answer("profile")
class ProfileAnswer(TypedDict):
    """What a program communicated (docs/reference/profile.md); null where nothing was seen."""

    exit_code: int
    warnings: list[str]
    output: str | None
    profile: dict[str, Any] | None
