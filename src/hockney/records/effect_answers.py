"""What the runner answers about effects, and what it is asked: a question and an answer for each of them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from hockney.records.answers import Answer, Asked, StreamsAnswer, StreamsAsked, Timed
from hockney.records.record import MOST_EXACT, Bracketed, Count, NotNegative, Positive, Real, Whole
from hockney.registry import Registry

effect_answers: Registry[type[Answer]] = Registry(
    "answer about an effect", "hockney.records.effect_answers", "reference/effects.md"
)
"""Each answer by the name of its effect, which is that of the file in cpp/runner/effects."""


def answer_type(effect: str) -> type[Answer]:
    """The type of an effect's answers; the open `Answer` where this version does not know the effect."""
    return dict(effect_answers).get(effect, Answer)


class CongestionAsked(StreamsAsked):
    """Pairs in a pattern: one of them alone, a random draw, or the worst of a topology."""

    pattern: str
    draw: Count | None = None
    seed: Count | None = None
    topology: str = ""
    topology_bound: NotNegative | None = None

    @model_validator(mode="after")
    def _pattern_is_whole(self) -> Self:
        if "draw" in self.model_fields_set and self.seed is None:
            raise ValueError("a draw has a seed")
        if self.pattern == "topology" and self.topology_bound is None:
            raise ValueError("the pairing of a topology has its bound")
        return self


@effect_answers.register("congestion")
class CongestionAnswer(StreamsAnswer):
    """The same as of all streams."""

    ASKED = CongestionAsked


class DatatypesAsked(Asked):
    """A layout, and how it is sent; a vector's blocks and their distance."""

    way: str
    layout: str
    block_B: Count | None = None
    stride_B: Count | None = None

    @model_validator(mode="after")
    def _vector_is_whole(self) -> Self:
        if self.layout == "vector" and None in (self.block_B, self.stride_B):
            raise ValueError("a vector has block_B and stride_B")
        return self


@effect_answers.register("datatypes")
class DatatypesAnswer(Timed):
    """A message of scattered data, and what the runner counted in its layout: blocks, and cache lines of 64 B.

    `accesses`: pairs of a block and a line that it touches. `rounds`: messages in a sample.
    """

    ASKED = DatatypesAsked

    bytes: Count
    blocks: int = Field(ge=1, le=MOST_EXACT)
    lines: int = Field(ge=1, le=MOST_EXACT)
    accesses: int = Field(ge=1, le=MOST_EXACT)
    extent_B: Count
    rounds: Count = 1

    @model_validator(mode="after")
    def _blocks_fit(self) -> Self:
        if self.bytes < self.blocks or self.extent_B < self.bytes:
            raise ValueError("blocks of a byte at least lie within the extent")
        return self


@effect_answers.register("injection")
class InjectionAnswer(StreamsAnswer):
    """The same as of all streams."""

    ASKED = StreamsAsked


class MatchingAsked(Asked):
    """Entries ahead of the one that matches, and behind it; what they differ by."""

    queue: str
    source: str
    by: str
    ahead: Count
    behind: Count


@effect_answers.register("matching")
class MatchingAnswer(Timed):
    """Messages whose match lies deep in a queue: the time of each of `targets` messages in a row."""

    ASKED = MatchingAsked

    targets: Whole = 1


class OverlapAsked(Asked):
    """A message of `bytes`, and on which side something is computed, with so many calls of MPI_Test."""

    bytes: Count
    side: Literal["sender", "receiver"]
    tests: Count


@effect_answers.register("overlap")
class OverlapAnswer(Answer, Bracketed):
    """A transfer alone and beside a computation of `computation_s`; seconds, one entry a repetition.

    `done_early` of `tries` sends were done before their receive was posted. `tests`: calls of MPI_Test, which
    took `tests_s` together. `clock_s`: one reading of the clock. `disturbed`: 1 where the system took a processor
    away.
    """

    ASKED = OverlapAsked

    verified: bool
    done_early: Whole
    tries: Whole
    computation_s: Real
    clock_s: Real
    alone_s: list[Real]
    total_s: list[Real]
    start_s: list[Real]
    wait_s: list[Real]
    tests_s: list[Real]
    tests: list[Whole]
    disturbed: list[Whole] = Field(default_factory=list)

    @model_validator(mode="after")
    def _repetitions_fit(self) -> Self:
        lists = (self.alone_s, self.total_s, self.start_s, self.wait_s, self.tests_s, self.tests)
        if not self.alone_s or len({len(each) for each in lists} | {len(self.disturbed or self.tests)}) > 1:
            raise ValueError("not every repetition has all of its times")
        return self


class SubsetsAsked(Asked):
    """`of`, a collective, on subsets of `ranks` members: on one of them alone, or on all of them together."""

    of: str
    algorithm: str
    ranks: int = Field(ge=2)
    bytes: Count
    segment_B: Whole = 0
    radix: Whole = 0
    arrangement: Literal["blocks", "strided"]
    part: Literal["alone", "together"]


@effect_answers.register("subsets")
class SubsetsAnswer(Timed):
    """Completion times, last exit minus first entry of a subset. A sample is their mean over the subsets.

    `slowest_s`: of each sample the longest; `subset_s`: each subset's median. `late`: repetitions that a rank
    came too late for, which were done again; `late_kept`: samples that it was too late for at the last try as
    well, which count. `preempted`: samples left out because the system took a processor away.
    """

    ASKED = SubsetsAsked

    verified: bool
    slowest_s: list[Real] = Field(default_factory=list)
    subset_s: list[Positive] = Field(min_length=1)
    preempted: Whole = 0
    late: Whole = 0
    late_kept: Whole = 0

    @model_validator(mode="after")
    def _samples_fit(self) -> Self:
        if len(self.slowest_s) != len(self.samples_s):
            raise ValueError("a sample has a slowest subset")
        return self


class SynchronisationAsked(Asked):
    """A message of `bytes` to a receiver that waits in MPI (`present`) or computes (`absent`)."""

    bytes: Count
    receiver: str


@effect_answers.register("synchronisation")
class SynchronisationAnswer(Answer, Bracketed):
    """Sends whose receiver is late: `done` of `valid` tries ended before it came; `spoilt` tries are left out.

    Seconds, one entry for each try: of the send, of the late receive, and of transfers whose receiver waits.
    """

    ASKED = SynchronisationAsked

    verified: bool
    done: Whole
    valid: Whole
    spoilt: Whole = 0
    patience_s: Real | None = None
    absence_s: Real | None = None
    transfers_s: list[Real]
    sending_s: list[Real]
    receiving_s: list[Real]

    @model_validator(mode="after")
    def _tries_fit(self) -> Self:
        if self.valid > 0 and not (self.sending_s and self.receiving_s and self.transfers_s):
            raise ValueError("tries without times")
        return self
