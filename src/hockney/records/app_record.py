"""One run of an application as it is stored: a line of `apps.jsonl`, read back by the report."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hockney.records.answers import Answer


class AppRecord(BaseModel):
    """One (application, problem, grid, ranks, placement) with its time and what the program says of it, SI units.

    `time_s` is the median over repetitions of the slowest rank's time; `low_s` and `high_s` bound it at 95 % and
    are absent with fewer than six repetitions.
    """

    model_config = ConfigDict(extra="forbid")

    operation: str = Field(description="ring, sum3d, jacobi, cg, …")
    ranks: int = Field(ge=1)
    parameters: dict[str, Any] = Field(description="what was asked of the program, by the keys of its request")
    time_s: float = Field(ge=0, allow_inf_nan=False)
    low_s: float | None = None
    high_s: float | None = None
    samples_s: list[float] = Field(default_factory=list, description="one per repetition, in order")
    answer: Answer = Field(description="all else that the program says: parts, checks, statistics")
    system: str = ""
    mpi: str = ""
    mapping: str = ""
    variant: str = ""
    nodes: int | None = None
    ppn: int | None = None
    oversubscribed: bool | None = None
    launch: str = Field(default="", description="id of the launch in launches.jsonl")
    time: str = Field(default="", description="UTC, ISO 8601")
