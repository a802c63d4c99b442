"""One run of an application as it is stored: a line of `apps.jsonl`, read back by the report."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from hockney.records.answers import Answer
from hockney.records.record import MOST_EXACT, Circumstances, NotNegative, Real, Value


class AppRecord(Circumstances):
    """One (application, problem, grid, ranks, placement) with its time and what the program says of it, SI units.

    `time_s` is the median over repetitions of the slowest rank's time; `low_s` and `high_s` bound it at 95 % and
    are absent with fewer than six repetitions.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    operation: str = Field(description="ring, sum3d, jacobi, cg, …")
    ranks: int = Field(ge=1, le=MOST_EXACT)
    parameters: dict[str, Value] = Field(description="what was asked of the program, by the keys of its request")
    time_s: NotNegative
    low_s: Real | None = None
    high_s: Real | None = None
    samples_s: list[Real] = Field(default_factory=list, description="one per repetition, in order")
    answer: Answer = Field(description="all else that the program says: parts, checks, statistics")
