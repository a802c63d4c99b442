"""What the C++ runner answers, one model a kind of answer; SI units, `null` where a number is not finite.

`hello` opens a launch; `measurement` is a point between two ranks or of a collective; `record` is an effect's or
an application's; `refused` and `error` stand in place of an answer. `record` is open: campaigns keep all that was
said, also by a version of the runner that says more than these models name. An application's own answer is
typed where the application is; those of effects, which campaigns ask by themselves, are at the end.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_serializer
from pydantic_core import from_json

from hockney.records.record import Bracketed


def first_problem(error: ValidationError) -> str:
    """Where and what is wrong first, in one line: `time_s: Field required`."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


class Kept(BaseModel):
    """Words of the runner that are stored: as they came, with what these models do not name, without defaults."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @model_serializer
    def as_said(self) -> dict[str, Any]:
        """What the runner said, and nothing else."""
        said = {**self.__dict__, **(self.__pydantic_extra__ or {})}
        return {name: value for name, value in said.items() if name in self.model_fields_set}


class Said(BaseModel):
    """An answer line of the runner. `KIND`: its `type`."""

    model_config = ConfigDict(frozen=True)

    KIND: ClassVar[str]


class ProcessorCache(Kept):
    """A cache of a processor and the processors that share it."""

    level: int
    type: str
    size_B: int
    shared: list[int] = Field(default_factory=list)


class RankPlace(Kept):
    """Where a rank is. What a system does not tell is absent, -1 or empty; a simulated host tells its name alone.

    `machine`: the boot id, which hosts that are namespaces of one machine share. Numbers are the operating
    system's; `siblings`: processors of the same core.
    """

    rank: int
    host: str = ""
    pid: int | None = None
    machine: str = ""
    simulated: bool = False
    kernel: str = ""
    cpu_model: str = ""
    cpus: int | None = None
    memory_B: int | None = None
    affinity: list[int] = Field(default_factory=list)
    progress_threads: list[str] = Field(
        default_factory=list, description="switches of progress threads that are on"
    )
    cpu: int | None = None
    numa: int = -1
    package: int = -1
    core: int = -1
    siblings: list[int] = Field(default_factory=list)
    governor: str = ""
    caches: list[ProcessorCache] = Field(default_factory=list)


class Kernel(BaseModel):
    """A kernel between two ranks: its largest sensible size (0: any) and whether a window of messages matters."""

    model_config = ConfigDict(frozen=True)

    name: str
    largest_B: int
    windowed: bool


class Candidate(BaseModel):
    """An algorithm of a collective that a launch can measure. `radix`: its default, 0 where it takes none."""

    model_config = ConfigDict(frozen=True)

    operation: str
    algorithm: str
    kind: Literal["schedule", "library", "default"]
    segmented: bool
    radix: int


class Hello(Said):
    """A launch's description of itself."""

    KIND = "hello"

    protocol: int
    library: str
    thread_level: str = ""
    standard: str
    operations: list[Kernel]
    algorithms: list[Candidate] = Field(default_factory=list)
    apps: list[str] = Field(default_factory=list)
    effects: list[str] = Field(default_factory=list)
    settings: dict[str, str]
    mpi_t: bool = True
    ranks: list[RankPlace]
    clock_granularity_s: float


class Refusal(Said):
    """What was asked is not done: for want of memory (`reason`: `memory`), or as `message` says."""

    KIND = "refused"

    reason: str
    message: str = ""
    needed_B: float = 0.0
    available_B: float = 0.0


class Mistake(Said):
    """The runner does not understand what was asked."""

    KIND = "error"

    message: str


class Measurement(Said, Bracketed):
    """A point between two ranks: the time of one message, its 95 % interval and the samples behind it.

    `batch`: messages in a sample. `disturbed_at`: indices of samples set aside. `same_cpu`: samples at whose
    start both ranks were on processors of the same number.
    """

    KIND = "measurement"

    median_s: float | None
    low_s: float | None
    high_s: float | None
    quantiles_s: dict[str, float]
    samples_s: list[float]
    disturbed_at: list[int]
    batch: int
    stop: str
    verified: bool
    same_cpu: int
    elapsed_s: float


class CollectiveMeasurement(Measurement):
    """A point of a collective: the completion time, and the same repetitions by other statistics.

    `late`: repetitions that missed their start. `proved`: the library was seen to run what was asked for.
    """

    median_s: float
    low_s: float
    high_s: float
    mean_over_ranks_s: float
    min_over_ranks_s: float
    max_over_ranks_s: float
    clock_error_s: float
    late: int
    proved: bool


class Answer(Said, Kept):
    """What an effect or an application answers. Its own model names what else it says.

    `verified`: whether the data, or the result, were right; None where nothing is checked.
    """

    KIND = "record"

    verified: bool | None = None

    def read_as(self, kind: type[AnswerType]) -> AnswerType:
        """The same by the names of its own model; ValueError where it does not say what that model needs."""
        if isinstance(self, kind):
            return self
        try:
            return kind.model_validate(self.as_said())
        except ValidationError as error:
            raise ValueError(first_problem(error)) from error


AnswerType = TypeVar("AnswerType", bound=Answer)


class Timed(Answer, Bracketed):
    """An answer with repetitions that were timed: the slowest rank's median and its 95 % interval.

    `low_s` and `high_s` are None with fewer than six repetitions. `disturbed_at`: indices of samples set aside.
    """

    time_s: float
    low_s: float | None = None
    high_s: float | None = None
    samples_s: list[float] = Field(default_factory=list)
    disturbed_at: list[int] = Field(default_factory=list)


class StreamsAnswer(Timed):
    """Pairs that stream at once (injection, congestion): times of a window, `pair_s` the median of each pair.

    `windows`: in a sample. `preempted`: samples left out because the system took a processor away.
    """

    verified: bool
    pair_s: list[float] = Field(default_factory=list)
    windows: int = 1
    preempted: int = 0


class MatchingAnswer(Timed):
    """Messages whose match lies deep in a queue: the time of each of `targets` in a row."""

    targets: int = 1


class DatatypesAnswer(Timed):
    """A message of scattered data, and what the runner counted in its layout: blocks, and cache lines of 64 B.

    `accesses`: a block and a line that it touches. `rounds`: messages in a sample.
    """

    bytes: int
    blocks: int
    lines: int
    accesses: int
    extent_B: int
    rounds: int = 1


class OverlapAnswer(Answer, Bracketed):
    """A transfer alone and beside a computation of `computation_s`; seconds, one entry a repetition.

    `done_early` of `tries` sends were done before their receive was posted. `tests`: calls of MPI_Test, which
    took `tests_s` together. `clock_s`: one reading of the clock. `disturbed`: 1 where the system took a processor
    away.
    """

    verified: bool
    done_early: int
    tries: int
    computation_s: float
    clock_s: float
    alone_s: list[float]
    total_s: list[float]
    start_s: list[float]
    wait_s: list[float]
    tests_s: list[float]
    tests: list[int]
    disturbed: list[int] = Field(default_factory=list)


class SynchronisationAnswer(Answer, Bracketed):
    """Sends with a late receiver: `done` of `valid` tries were done before it came; `spoilt` ones are left out.

    Seconds, one entry a try: of the send, of the late receive, and of transfers with a receiver that waits.
    """

    verified: bool
    done: int
    valid: int
    spoilt: int = 0
    patience_s: float | None = None
    absence_s: float | None = None
    transfers_s: list[float]
    sending_s: list[float]
    receiving_s: list[float]


EFFECT_ANSWERS: dict[str, type[Answer]] = {
    "congestion": StreamsAnswer,
    "datatypes": DatatypesAnswer,
    "injection": StreamsAnswer,
    "matching": MatchingAnswer,
    "overlap": OverlapAnswer,
    "synchronisation": SynchronisationAnswer,
}
"""By the name of the effect (its file in cpp/runner/effects); any other effect's answer is a mere `Answer`."""


SaidType = TypeVar("SaidType", bound=Said)


def parse(line: str, kind: type[SaidType]) -> SaidType | Refusal | Mistake:
    """An answer line where `kind` is expected; ValueError where it is damaged or of another kind."""
    fields = from_json(line)
    if not isinstance(fields, dict):
        raise ValueError("not an object")
    name = fields.pop("type", None)
    for possible in (kind, Refusal, Mistake):
        if name == possible.KIND:
            return possible.model_validate(fields)
    raise ValueError(f"an answer of type {name!r}, not {kind.KIND!r}")
