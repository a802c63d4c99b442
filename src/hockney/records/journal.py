"""Lines of `launches.jsonl` and `failures.jsonl`, and `ended.json`, typed where they are read.

Further fields are kept.
"""

from __future__ import annotations

from pydantic import Field

from hockney.records.answers import Kept, ProcessorCache, RankPlace
from hockney.records.keys import CollectiveKey, PairKey
from hockney.records.record import NotNegative, Real, Value, Whole


class HostLine(Kept):
    """A host as the first of its ranks reported it."""

    host: str
    kernel: str | None = None
    cpu_model: str | None = None
    governor: str | None = None
    cpus: Whole | None = None
    memory_B: Whole | None = None
    caches: list[ProcessorCache] = Field(default_factory=list)


class LaunchLine(Kept):
    """The provenance of one launch, or of one imported file. Every field may be absent."""

    id: str = ""
    index: Whole | None = None
    time: str = ""
    hockney: str = ""
    variant: str = ""
    argv: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    mapping: str = ""
    bind_to: str = ""
    mpi: dict[str, str | None] = Field(default_factory=dict)
    eager_limit_B: dict[str, NotNegative | None] = Field(default_factory=dict, description="by channel")
    breaks_B: dict[str, list[NotNegative]] = Field(default_factory=dict, description="by channel, increasing")
    hosts: list[HostLine] = Field(default_factory=list)
    settings: dict[str, str] = Field(default_factory=dict)
    clock_granularity_s: Real | None = None
    ranks: list[RankPlace] = Field(default_factory=list)
    localities: dict[str, str] = Field(default_factory=dict, description="of pairs of ranks, `0-1`")
    oversubscribed: bool | None = None
    warnings: list[str] = Field(default_factory=list)
    imported: str = Field(default="", description="file the values were read from")
    tool: str = Field(default="", description="program that wrote that file")
    records: Whole | None = None
    metadata: dict[str, Value] = Field(default_factory=dict, description="what the header of that file says")


class FailureLine(Kept):
    """Why a point or a launch was not measured.

    A failure (`reason`), what is never done (`limitation`), or what the campaign's time ended (`left_out`).
    """

    time: str = ""
    index: Whole | None = None
    variant: str = ""
    reason: str = ""
    limitation: str = ""
    left_out: str = ""
    series: PairKey | CollectiveKey | None = None
    bytes: Whole | None = None


class Ended(Kept):
    """How a run of a campaign ended. `whole`: nothing is left that going on could measure."""

    time: str = ""
    whole: bool = False
    why: str = ""
    left_out: Whole = 0
    share: str = Field(default="", description="2/3: the second of three jobs that share the launches")
