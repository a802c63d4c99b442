"""One measurement as it is stored: a line of `records.jsonl`, read back by everything downstream."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Statistic = Literal[
    "one_way",
    "completion",
    "max_over_ranks",
    "mean_over_ranks",
    "min_over_ranks",
    "bandwidth_B_per_s",
    "message_rate_per_s",
]
Locality = Literal["core", "cache", "numa", "package", "node", "network"]
Cache = Literal["warm", "off"]
Start = Literal["window", "barrier"]
Selection = Literal["", "proved", "unproved"]
Wanted = Literal["common", "quietest", "all"]
"""At which level of the machine a point is to be complete (`hockney.records.levels`)."""
LOCALITIES: tuple[Locality, ...] = get_args(Locality)
"""Nearest first."""


class Causes(BaseModel):
    """What the kernel told of the ranks from before the first reference to after the last, in `span_s` seconds.

    Absent is what it does not tell. Counts are of all ranks together: how often a processor was taken away from a
    rank (`involuntary_switches`), how often a rank moved to another (`migrations`). Times are those of the rank
    with most: ready to run while its processor ran something else (`waited_s`), taken from its processors by the
    hypervisor (`stolen_s`), work of the other hardware threads of its cores (`siblings_busy_s`). `frequency_Hz`:
    the lowest of their processors at the end. `took_s`: what reading all of this took.
    """

    model_config = ConfigDict(frozen=True)

    span_s: float = Field(gt=0)
    took_s: float = 0.0
    involuntary_switches: int | None = None
    migrations: int | None = None
    waited_s: float | None = None
    stolen_s: float | None = None
    siblings_busy_s: float | None = None
    frequency_Hz: float | None = None


class Bracketed(BaseModel):
    """Samples in groups, each between two references: the same short exchange, timed again and again.

    `reference_s`: its median time at each reference (one way between two ranks, a barrier among more), with the
    distance between its quartiles. `group_begins`: index of each group's first sample; group i lies between the
    references i and i + 1. `references_took_s`: all of them together. `causes`: what may be behind their level.
    Without references all is empty.
    """

    reference_s: list[float] = Field(default_factory=list)
    reference_iqr_s: list[float] = Field(default_factory=list)
    group_begins: list[int] = Field(default_factory=list)
    references_took_s: float = 0.0
    causes: Causes | None = None

    def references(self) -> dict[str, Any]:
        """These fields and their values."""
        return {name: getattr(self, name) for name in Bracketed.model_fields}


class Record(Bracketed):
    """One (operation, algorithm, placement, ranks, bytes) with its median, interval and samples, SI units.

    `value`, `low` and `high` are in the unit that `statistic` names: seconds for times, bytes per second or
    messages per second for rates. `low` and `high` bound the median at 95 %; they are absent where the source
    gave none. Fields that are unknown are empty, never guessed.
    """

    model_config = ConfigDict(extra="forbid")

    source: str = Field(description="program that measured: hockney, osu, imb, …")
    operation: str
    bytes: int = Field(ge=0)
    statistic: Statistic
    value: float = Field(gt=0, allow_inf_nan=False)
    low: float | None = Field(default=None, ge=0)
    high: float | None = Field(default=None, ge=0)
    system: str = ""
    mpi: str = ""
    algorithm: str = "default"
    mapping: str = ""
    variant: str = ""
    locality: Locality | None = None
    cache: Cache | Literal[""] = ""
    nodes: int | None = None
    ppn: int | None = None
    ranks: int | None = None
    pair: str = Field(default="", description="the two ranks of a point-to-point operation, '0-1'")
    pairs: int | None = Field(default=None, description="pairs that communicate at the same time")
    window: int | None = None
    segment_bytes: int | None = Field(default=None, description="size of a segment; absent: not segmented")
    radix: int | None = Field(default=None, description="fan-out or radix, where another than the default")
    root: int | None = Field(default=None, description="absent: none, or it moves on with each repetition")
    start: Start | Literal[""] = Field(default="", description="how the repetitions of a collective start")
    clock_error_s: float | None = Field(default=None, ge=0, description="residual of the common clock")
    late: int | None = Field(default=None, description="repetitions that missed their window")
    visit: str = Field(default="", description="what records made from the same samples share")
    repetition: int = Field(default=0, description="launch, or independent repeat, from 0")
    oversubscribed: bool | None = None
    quantiles: dict[str, float] = Field(default_factory=dict, description="'0.05' → value, over the samples")
    samples: list[float] = Field(default_factory=list, description="one per batch, in the order measured")
    batch: int | None = Field(default=None, description="repetitions inside one timed sample")
    disturbed: int | None = Field(default=None, description="samples recognised as disturbed")
    disturbed_at: list[int] = Field(default_factory=list, description="those set aside: indices in `samples`")
    elapsed_s: float | None = Field(default=None, description="time the point took, warm-up included")
    core_seconds: float | None = Field(default=None, ge=0, description="elapsed_s × the ranks that took part")
    stop: str = Field(default="", description="criterion that ended the repetitions: interval, budget, …")
    selection: Selection = Field(
        default="", description="of a library's algorithm: whether it was seen at work, or only asked for"
    )
    selection_why: str = Field(default="", description="what proves it, or why nothing does")
    verified: bool | None = Field(default=None, description="payload compared byte by byte")
    launch: str = Field(default="", description="id of the launch in launches.jsonl")
    time: str = Field(default="", description="UTC, ISO 8601")
    origin: str = Field(default="", description="file:line an imported value was read from")
