"""One measurement as it is stored: a line of `records.jsonl`, read back by everything downstream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hockney.reading import has_absurd_number
from hockney.records.statistic import StatisticName

MOST_EXACT = 2**53
"""The largest whole numbers that are exact as real ones; no message, and no count of anything, is larger."""
SMALLEST, MOST = 1e-15, 1e18
"""No time is shorter than light needs for a third of a micrometre; no rate is above an exabyte per second."""


def _sensible(value: Any) -> Any:
    if has_absurd_number(value):
        raise ValueError("it holds a number that is too large")
    return value


Whole = Annotated[int, Field(ge=-MOST_EXACT, le=MOST_EXACT)]
Count = Annotated[int, Field(ge=0, le=MOST_EXACT)]
Real = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]
Positive = Annotated[float, Field(ge=SMALLEST, le=MOST, allow_inf_nan=False)]
Value = Annotated[Any, AfterValidator(_sensible)]
"""Whatever JSON can say, with numbers that can be calculated with."""

Locality = Literal["core", "cache", "numa", "package", "node", "network"]
Cache = Literal["warm", "off"]
Start = Literal["window", "barrier"]
Selection = Literal["", "proved", "unproved"]
Wanted = Literal["common", "quietest", "all"]
"""At which level of the machine a point is to be complete (`hockney.records.levels`)."""
LOCALITIES: tuple[Locality, ...] = get_args(Locality)
"""Nearest first."""


def nearest(locality: Locality, known: Iterable[Locality]) -> Locality:
    """The locality itself where it is known, else the nearest one farther out, else farther in."""
    at = LOCALITIES.index(locality)
    return min(known, key=lambda each: (LOCALITIES.index(each) < at, abs(LOCALITIES.index(each) - at)))


def check_indices(indices: Sequence[int], samples: Sequence[float]) -> None:
    """ValueError where `disturbed_at` names a sample that is not there."""
    if indices and not 0 <= min(indices) <= max(indices) < len(samples):
        raise ValueError(f"disturbed_at names a sample that is none of {len(samples)}")


class Causes(BaseModel):
    """What the kernel told of the ranks from before the first reference to after the last, in `span_s` seconds.

    Absent is what it does not tell. Counts are of all ranks together: how often a processor was taken away from a
    rank (`involuntary_switches`), how often a rank moved to another (`migrations`). Times are those of the rank
    with most: ready to run while its processor ran something else (`waited_s`), taken from its processors by the
    hypervisor (`stolen_s`), work of the other hardware threads of its cores (`siblings_busy_s`). `frequency_Hz`:
    the lowest of their processors at the end. `took_s`: what reading all of this took.
    """

    model_config = ConfigDict(defer_build=True, frozen=True)

    span_s: Positive
    took_s: Real = 0.0
    involuntary_switches: Whole | None = None
    migrations: Whole | None = None
    waited_s: Real | None = None
    stolen_s: Real | None = None
    siblings_busy_s: Real | None = None
    frequency_Hz: Real | None = None


class Bracketed(BaseModel, defer_build=True):
    """Samples in groups, each between two references: the same short exchange, timed again and again.

    `reference_s`: its median time at each reference (one way between two ranks, a barrier among more), with the
    distance between its quartiles. `large_reference_s`: the median time of 64 KiB right after each, one way; only
    between two ranks, and where the network is fast enough for it. `group_begins`: index of each group's first
    sample; group i lies between the references i and i + 1. `references_took_s`: all of them together. `causes`:
    what may be behind their level. Without references all is empty.
    """

    reference_s: list[NotNegative] = Field(default_factory=list)
    reference_iqr_s: list[Real] = Field(default_factory=list)
    large_reference_s: list[Positive] = Field(default_factory=list)
    group_begins: list[Whole] = Field(default_factory=list)
    references_took_s: Real = 0.0
    causes: Causes | None = None

    @model_validator(mode="after")
    def _groups_fit(self) -> Self:
        if (begins := self.group_begins) != sorted(begins) or (begins and begins[0] < 0):
            raise ValueError("group_begins do not rise")
        # The last group may be without samples, and without the reference that would close it.
        if self.reference_s and len(self.reference_s) - len(begins) not in (0, 1):
            raise ValueError("each group of samples lies between two references")
        if len(self.reference_iqr_s) != len(self.reference_s):
            raise ValueError("reference_iqr_s has not one entry for each reference")
        if len(self.large_reference_s) not in (0, len(self.reference_s)):
            raise ValueError("large_reference_s has not one entry for each reference")
        return self


class Circumstances(BaseModel, defer_build=True):
    """Where and with what something was measured; empty is unknown."""

    system: str = ""
    mpi: str = ""
    mapping: str = ""
    variant: str = ""
    nodes: Whole | None = None
    ppn: Whole | None = None
    oversubscribed: bool | None = None
    launch: str = Field(default="", description="id of the launch in launches.jsonl")
    time: str = Field(default="", description="UTC, ISO 8601")


class Record(Bracketed, Circumstances):
    """One (operation, algorithm, placement, ranks, bytes) with its median, interval and samples, SI units.

    `value`, `low` and `high` are in the unit that `statistic` names: seconds for times, bytes per second or
    messages per second for rates. `low` and `high` bound the median at 95 %; they are absent where the source
    gave none. Fields that are unknown are empty, never guessed.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    source: str = Field(description="program that measured: hockney, osu, imb, …")
    operation: str
    bytes: Count
    statistic: StatisticName
    value: Positive
    low: NotNegative | None = Field(default=None)
    high: NotNegative | None = Field(default=None)
    algorithm: str = "default"
    locality: Locality | None = None
    cache: Cache | Literal[""] = ""
    ranks: Whole | None = None
    pair: str = Field(default="", description="the two ranks of a point-to-point operation, '0-1'")
    pairs: Whole | None = Field(default=None, description="pairs that communicate at the same time")
    window: Whole | None = None
    segment_bytes: Whole | None = Field(default=None, description="size of a segment; absent: not segmented")
    radix: Whole | None = Field(default=None, description="fan-out or radix, where another than the default")
    root: Whole | None = Field(default=None, description="absent: none, or it moves on with each repetition")
    start: Start | Literal[""] = Field(default="", description="how the repetitions of a collective start")
    clock_error_s: NotNegative | None = Field(default=None, description="residual of the common clock")
    late: Whole | None = Field(default=None, description="repetitions that missed their window")
    visit: str = Field(default="", description="what records made from the same samples share")
    repetition: Whole = Field(default=0, description="launch, or independent repeat, from 0")
    quantiles: dict[str, Real] = Field(default_factory=dict, description="'0.05' → value, over the samples")
    samples: list[Real] = Field(default_factory=list, description="one per batch, in the order measured")
    sample_roots: list[Whole] = Field(default_factory=list, description="of each sample, where the root moves on")
    batch: Whole | None = Field(default=None, description="repetitions inside one timed sample")
    disturbed: Whole | None = Field(default=None, description="samples recognised as disturbed")
    disturbed_at: list[Whole] = Field(default_factory=list, description="indices in `samples` of those set aside")
    elapsed_s: Real | None = Field(default=None, description="time the point took, warm-up included")
    core_seconds: NotNegative | None = Field(default=None, description="elapsed_s × the ranks that took part")
    stop: str = Field(default="", description="criterion that ended the repetitions: interval, budget, …")
    selection: Selection = Field(
        default="", description="of a library's algorithm: whether it was seen at work, or only asked for"
    )
    selection_why: str = Field(default="", description="what proves it, or why nothing does")
    verified: bool | None = Field(default=None, description="payload compared byte by byte")
    origin: str = Field(default="", description="file:line an imported value was read from")

    @model_validator(mode="after")
    def _indices_fit(self) -> Self:
        check_indices(self.disturbed_at, self.samples)
        return self

    def between(self, references: Bracketed) -> Record:
        """The same with these references around its samples."""
        return self.model_copy(update={name: getattr(references, name) for name in Bracketed.model_fields})
