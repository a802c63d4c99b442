"""What the C++ runner answers, one model for each kind of answer; SI units, `null` where a number is not finite.

`hello` opens a launch; `measurement` is a point between two ranks or of a collective; `record` is the answer of
an effect or an application; `refused` and `error` stand in place of an answer. `record` is open: campaigns keep
all that the runner says, even where a later version says more than these models name. The answers of effects are
typed in `hockney.records.effect_answers`, those of applications in their folders.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_serializer, model_validator
from pydantic_core import from_json

from hockney.records.record import MOST_EXACT, Bracketed, Count, Positive, Real, Value, Whole, check_indices
from hockney.records.statistic import OVER_RANKS


def first_problem(error: ValidationError) -> str:
    """The place and the kind of the first problem, in one line, and how many more there are."""
    first, *others = error.errors()
    where, what = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        what = f"unknown field {where}"
    elif where:
        what = f"{where}: {what}"
    return f"{what} (and {len(others)} more)" if others else what


class Kept(BaseModel):
    """What the runner says, stored unchanged, with fields that no model names, without defaults."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow", allow_inf_nan=False)

    __pydantic_extra__: dict[str, Value] = Field(init=False)

    @model_serializer
    def as_said(self) -> dict[str, Any]:
        """What the runner said, and nothing else."""
        said = {**self.__dict__, **(self.__pydantic_extra__ or {})}
        return {name: value for name, value in said.items() if name in self.model_fields_set}


class Said(BaseModel):
    """An answer line of the runner. `KIND`: its `type`."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    KIND: ClassVar[str]


class ProcessorCache(Kept):
    """A cache of a processor and the processors that share it."""

    level: Whole
    type: str
    size_B: Whole
    shared: list[Whole] = Field(default_factory=list)


class RankPlace(Kept):
    """The place of a rank. Unknown fields are absent, -1 or empty; a simulated host says only its name.

    `machine` is the boot id, which all hosts that are namespaces of one machine share. Processors have the
    operating system's numbers; `siblings` are those of the same core.
    """

    rank: Whole
    host: str = ""
    pid: Whole | None = None
    machine: str = ""
    simulated: bool = False
    kernel: str = ""
    cpu_model: str = ""
    cpus: Whole | None = None
    memory_B: Whole | None = None
    affinity: list[Whole] = Field(default_factory=list)
    progress_threads: list[str] = Field(
        default_factory=list, description="switches of progress threads that are on"
    )
    cpu: Whole | None = None
    numa: Whole = -1
    package: Whole = -1
    core: Whole = -1
    siblings: list[Whole] = Field(default_factory=list)
    governor: str = ""
    caches: list[ProcessorCache] = Field(default_factory=list)


class NodeProcessor(Kept):
    """A processor of a node; `cache` (the last level) and `core` by the lowest processor that shares them."""

    cpu: Whole
    package: Whole = -1
    numa: Whole = -1
    cache: Whole = -1
    core: Whole = -1


class ReportedNode(Kept):
    """A node's processors, each of its caches once, and files of the kernel by their path below /sys.

    A link has the name that it leads to for its text, a folder none.
    """

    processors: list[NodeProcessor] = Field(default_factory=list)
    caches: list[ProcessorCache] = Field(default_factory=list)
    files: dict[str, str] = Field(default_factory=dict)


class NodeOfRanks(Kept):
    """What the first ranks of nodes that are alike said of them."""

    ranks: list[Whole]
    node: ReportedNode


class Kernel(BaseModel):
    """A kernel between two ranks, its largest sensible size (0: any), and whether it uses a window."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    name: str
    largest_B: int
    windowed: bool


Kind = Literal["schedule", "library", "default"]


class Candidate(BaseModel):
    """An algorithm of a collective that a launch can measure. `radix`: its default, 0 where it takes none.

    `priority`: of the components that can serve a communicator, that of the highest one does. `segment_B`: the
    size of segments that the library has set for it; 0: none.
    """

    model_config = ConfigDict(defer_build=True, frozen=True)

    operation: str
    algorithm: str
    kind: Kind
    segmented: bool
    radix: int
    priority: int = 0
    segment_B: int = 0


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
    nodes: list[NodeOfRanks] = Field(default_factory=list)
    ranks: list[RankPlace]
    clock_granularity_s: float


class Defined(Said):
    """The runner took a schedule that a user wrote."""

    KIND = "defined"


class Refusal(Said):
    """The runner declines: memory is short (`reason`: `memory`), or `message` says why."""

    KIND = "refused"

    reason: str
    message: str = ""
    needed_B: float = 0.0
    available_B: float = 0.0


class Mistake(Said):
    """The runner does not understand the request."""

    KIND = "error"

    message: str


class Measurement(Said, Bracketed):
    """A point between two ranks: the time of one message, its 95 % interval and the samples behind it.

    `batch`: messages in a sample. `disturbed_at`: indices of samples set aside; `disturbed_but_counted`: how many
    were not, because too few others were left. `same_cpu`: how many samples began while both ranks were on
    processors of the same number.
    """

    KIND = "measurement"

    median_s: float | None
    low_s: float | None
    high_s: float | None
    quantiles_s: dict[str, float]
    samples_s: list[float]
    disturbed_at: list[int]
    disturbed_but_counted: int = 0
    batch: int
    stop: str
    verified: bool
    same_cpu: int
    elapsed_s: float

    @property
    def disturbed(self) -> int:
        """How many samples were recognised as disturbed, set aside or not."""
        return len(self.disturbed_at) + self.disturbed_but_counted


class CollectiveMeasurement(Measurement):
    """A point of a collective: the completion time, and other statistics of the same repetitions.

    `late`: repetitions that missed their start. `proved`: the library was seen to run the requested algorithm.
    `sample_roots`: of each sample, where the root moves on. `over_ranks_s`: those of the statistics over the
    ranks' own times that the runner says, by name.
    """

    median_s: float
    low_s: float
    high_s: float
    over_ranks_s: dict[str, float] = {}
    clock_error_s: float
    late: int
    proved: bool
    sample_roots: list[int] = []

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, said: dict[str, Any]) -> dict[str, Any]:
        return {**said, "over_ranks_s": {name: said[f"{name}_s"] for name in OVER_RANKS if f"{name}_s" in said}}


Matrix = list[list[int]]
"""[from][to]."""


class CallCount(Said):
    """What one call of a collective sent: messages and bytes by the library's count, None where it keeps none.

    `sockets_B`: what TCP connections took by the kernel's count, headers included; None where not asked for.
    """

    KIND = "count"

    verified: bool
    messages: Matrix | None = None
    bytes: Matrix | None = None
    sockets_B: Matrix | None = None


class Asked(BaseModel):
    """What a model reads of a question to the runner; further keys are kept."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow", allow_inf_nan=False)


class Answer(Said, Kept):
    """The answer of an effect or an application, whose own model names the other fields.

    `verified`: whether the data or the result were right; None where nothing is checked.
    """

    KIND = "record"
    ASKED: ClassVar[type[Asked]] = Asked
    """The question that it answers."""

    verified: bool | None = None

    def read_as(self, kind: type[AnswerType]) -> AnswerType:
        """This answer as `kind`; ValueError where it lacks what `kind` needs."""
        if isinstance(self, kind):
            return self
        try:
            return kind.model_validate(self.as_said())
        except ValidationError as error:
            raise ValueError(first_problem(error)) from error


AnswerType = TypeVar("AnswerType", bound=Answer)


class Timed(Answer, Bracketed):
    """An answer about timed repetitions: the slowest rank's median and its 95 % interval.

    `low_s` and `high_s` are None with fewer than six repetitions. `disturbed_at`: indices of samples set aside.
    """

    time_s: Real
    low_s: Real | None = None
    high_s: Real | None = None
    samples_s: list[Real] = Field(default_factory=list)
    disturbed_at: list[Whole] = Field(default_factory=list)

    @model_validator(mode="after")
    def _indices_fit(self) -> Self:
        check_indices(self.disturbed_at, self.samples_s)
        return self


class StreamsAsked(Asked):
    """A window of `window` messages of `bytes` from each pair at once."""

    bytes: Count
    window: int = Field(ge=1, le=MOST_EXACT)


class StreamsAnswer(Timed):
    """Pairs that stream at once (injection, congestion): times of a window; `pair_s` holds each pair's median.

    `windows`: how many make a sample. `preempted`: samples left out because the system took a processor away.
    """

    verified: bool
    pair_s: list[Positive] = Field(default_factory=list)
    windows: Whole = 1
    preempted: Whole = 0


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
