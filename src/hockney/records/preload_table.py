"""The table of `hockney apply`: which schedule runs an operation, by ranks and bytes.

`hockney tune --for hockney` writes it. The first rule that fits a call counts; where none does, the library's own
code runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney import _core, writing
from hockney.records import journal
from hockney.records.keys import COLLECTIVES
from hockney.registry import did_you_mean

_HINT = "`hockney tune … --for hockney -o FILE` writes such a file; the documentation has a page on `apply`"

Ranks = Annotated[int, Field(ge=1, le=2**30)]
Size = Annotated[int, Field(ge=0, le=2**62)]


class PreloadRule(BaseModel):
    """One line: calls of an operation on these ranks and bytes, bounds included, and the schedule that runs them.

    `least_bytes` and `most_bytes`: of the whole vector for bcast, reduce and allreduce, of one rank's block
    for the others; None is no bound. `segment_bytes` and `radix` 0: whole messages, the algorithm's usual radix.
    `gain` is the library's time over the schedule's where that is known, from what `basis` says.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, strict=True)

    operation: str
    least_ranks: Ranks | None = None
    most_ranks: Ranks | None = None
    least_bytes: Size | None = None
    most_bytes: Size | None = None
    algorithm: str
    segment_bytes: Size = 0
    radix: Annotated[int, Field(ge=0, le=2**30)] = 0
    gain: Annotated[float, Field(gt=0, lt=1e9)] | None = None
    basis: Literal["measurement", "model"] | None = None

    @model_validator(mode="after")
    def _names_a_schedule(self) -> PreloadRule:
        """Whether there is such a schedule that takes such a segment and radix, on bounds that are in order."""
        if self.operation not in COLLECTIVES:
            near = did_you_mean(self.operation, COLLECTIVES)
            raise ValueError(f"unknown operation {self.operation!r}; {near}known: {', '.join(COLLECTIVES)}")
        of_it = {
            schedule.name: schedule for schedule in _core.algorithms() if schedule.collective == self.operation
        }
        if self.algorithm not in of_it:
            near = did_you_mean(self.algorithm, of_it)
            raise ValueError(
                f"no schedule {self.algorithm!r} of {self.operation}; {near}known: {', '.join(of_it)}"
            )
        algorithm = of_it[self.algorithm]
        if self.segment_bytes and not algorithm.is_segmented:
            raise ValueError(f"{self.algorithm} does not cut its messages into segments: leave out segment_bytes")
        if self.radix and not algorithm.default_radix:
            raise ValueError(f"{self.algorithm} takes no radix: leave it out")
        if self.radix and self.radix < algorithm.least_radix:
            raise ValueError(f"the radix of {self.algorithm} must be at least {algorithm.least_radix}")
        for what, least, most in (
            ("ranks", self.least_ranks, self.most_ranks),
            ("bytes", self.least_bytes, self.most_bytes),
        ):
            if least is not None and most is not None and least > most:
                raise ValueError(f"least_{what} {least} is more than most_{what} {most}")
        return self


class PreloadTable(BaseModel):
    """A table for one MPI, named as `hockney doctor` names it: "Open MPI 5.0.11"; empty: for any."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    mpi: str = ""
    rules: list[PreloadRule]

    @property
    def text(self) -> str:
        """What stands in its file."""
        return self.model_dump_json(indent=2, exclude_none=True) + "\n"

    def write(self, path: Path) -> None:
        """NotWritten where the file cannot be."""
        writing.replace(path, self.text)


def load(path: Path) -> PreloadTable:
    """RequestError where the file cannot be read, is no JSON, or is no such table: what is wrong first."""
    return journal.load(PreloadTable, path, "table of `hockney apply`", "rules", _HINT)
