"""What a program communicates: the file of `hockney profile`, which `hockney predict` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney import writing
from hockney.records import journal
from hockney.records.record import MOST_EXACT, NotNegative

_HINT = "`hockney profile -o FILE -- mpirun … ./app` writes such a file"

Counted = Annotated[int, Field(ge=0, le=MOST_EXACT)]
Ranks = Annotated[int, Field(ge=0, le=2**30)]
_MODEL = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class Communicator(BaseModel):
    """Communicators of one name and number of ranks; `groups` of them have different ranks.

    `ranks` 0 stands for calls that name none (MPI_Wait).
    """

    model_config = _MODEL

    name: str
    ranks: Ranks
    groups: Counted


class SizeCount(BaseModel):
    """How many calls of all ranks had so many bytes: as in the tidy table, or those of a message."""

    model_config = _MODEL

    bytes: Counted
    calls: Counted


class Late(BaseModel):
    """The rank of MPI_COMM_WORLD that came last most often, and the share of the calls in which it did."""

    model_config = _MODEL

    rank: Ranks
    share: Annotated[float, Field(ge=0, le=1)]


class Call(BaseModel):
    """One operation at one call site, on one kind of communicator, whose place in the list is `communicator`.

    `calls`, `bytes` and `time_s` are sums over all ranks, the least and the most those of one rank. Of blocking
    collectives, `waiting_s` is the part of `time_s` before the last rank that the call needs had come, and
    `transferring_s` the rest, from `sampled` calls whose comings were kept; None where none were.
    """

    model_config = _MODEL

    operation: str
    site: str
    communicator: Counted
    calls: Counted
    bytes: Counted
    time_s: NotNegative
    least_rank_time_s: NotNegative
    most_rank_time_s: NotNegative
    sizes: list[SizeCount]
    sampled: Counted = 0
    waiting_s: NotNegative | None = None
    transferring_s: NotNegative | None = None
    late: Late | None = None


class LeftOut(BaseModel):
    """Calls of all ranks that are in no `Call`: a process notes only so many kinds of calls."""

    model_config = _MODEL

    calls: Counted
    time_s: NotNegative


class Profile(BaseModel):
    """A run of a program: `elapsed_s` from MPI_Init to MPI_Finalize, on the rank where that was longest."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    schema_version: Literal[1] = 1
    mpi: str
    ranks: Ranks
    elapsed_s: NotNegative
    communicators: list[Communicator]
    calls: list[Call]
    left_out: LeftOut | None = None

    @model_validator(mode="after")
    def _places_exist(self) -> Profile:
        """Whether each call names one of the communicators."""
        for call in self.calls:
            if call.communicator >= len(self.communicators):
                raise ValueError(f"a call is on communicator {call.communicator} of {len(self.communicators)}")
        return self

    def ranks_of(self, call: Call) -> int:
        """How many ranks make the call; calls on no communicator (MPI_Wait) are any rank's."""
        place = self.communicators[call.communicator]
        return max(1, place.ranks * place.groups or self.ranks)

    def write(self, path: Path) -> None:
        """NotWritten where the file cannot be."""
        writing.replace(path, self.model_dump_json(indent=1, exclude_none=True) + "\n")


def load(path: Path) -> Profile:
    """RequestError where the file cannot be read, is no JSON, or is no profile."""
    return journal.load(Profile, path, "profile", "communicators", _HINT)
