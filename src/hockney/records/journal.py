"""Files of a campaign's folder beside its records, typed where they are read; and files with a version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field, ValidationError

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.answers import Kept, ProcessorCache, RankPlace, first_problem
from hockney.records.keys import Key
from hockney.records.nodes import NodeDescription
from hockney.records.record import NotNegative, Real, Value, Whole


class StoredPlan(Kept):
    """What was asked for: `plan.json`, which also says what a campaign was imported or merged from."""

    schema_version: Whole | None = None
    ranks: Whole | None = None
    system: str = ""
    level: str = ""
    topology: str = ""
    imported: Value = None
    given: Value = None
    merged: Value = None

    @classmethod
    def of(cls, plan: object) -> StoredPlan:
        """A plan as its file has it, from what JSON can write."""
        return cls.model_validate_json(json.dumps(plan))

    @property
    def is_measured(self) -> bool:
        """Whether it was measured, and could go on."""
        return not {"imported", "merged"} & self.model_fields_set

    def difference(self, other: StoredPlan) -> str:
        """The first choice in which another plan differs: `ranks 8, not 4`; empty where none does."""
        mine, theirs = self.as_said(), other.as_said()
        for name in dict.fromkeys((*mine, *theirs)):
            if mine.get(name) != theirs.get(name):
                return f"{name} {json.dumps(theirs.get(name))}, not {json.dumps(mine.get(name))}"
        return ""


class HostLine(Kept):
    """A host as the first of its ranks reported it."""

    host: str
    kernel: str | None = None
    cpu_model: str | None = None
    governor: str | None = None
    cpus: Whole | None = None
    memory_B: Whole | None = None
    caches: list[ProcessorCache] = Field(default_factory=list)

    @classmethod
    def of(cls, place: RankPlace) -> HostLine:
        """What a rank says of its host."""
        known = cls.model_fields.keys() - {"caches"}
        return cls(**{name: value for name, value in place.as_said().items() if name in known})


class LaunchLine(Kept):
    """The provenance of one launch, or of one imported file. Every field may be absent."""

    id: str = ""
    index: Whole | None = None
    time: str = ""
    hockney: str = ""
    python: str = ""
    variant: str = ""
    argv: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    launcher: str = ""
    mapping: str = ""
    bind_to: str = ""
    bind_to_asked: str = ""
    platform: str = Field(default="", description="the simulated cluster, whole: times mean nothing without it")
    platform_sha256: str = ""
    mpi: dict[str, str | None] = Field(default_factory=dict)
    eager_limit_B: Mapping[str, NotNegative | None] = Field(default_factory=dict, description="by channel")
    breaks_B: Mapping[str, Sequence[NotNegative]] = Field(
        default_factory=dict, description="by channel, increasing"
    )
    hosts: list[HostLine] = Field(default_factory=list)
    transports: Value = Field(
        default=None, description="what the library's tools list (`hockney.runner.transports`)"
    )
    nodes: list[NodeDescription] = Field(default_factory=list)
    settings: dict[str, str] = Field(default_factory=dict)
    clock_granularity_s: Real | None = None
    ranks: list[RankPlace] = Field(default_factory=list)
    oversubscribed: bool | None = None
    warnings: list[str] = Field(default_factory=list)
    imported: str = Field(default="", description="file the values were read from")
    tool: str = Field(default="", description="program that wrote that file")
    records: Whole | None = None
    metadata: dict[str, Value] = Field(default_factory=dict, description="what the header of that file says")

    @property
    def mpi_name(self) -> str:
        """The MPI as records name it."""
        return self.mpi.get("name") or ""

    def with_fields(self, **fields: object) -> LaunchLine:
        """The same with these fields besides, in place of its own."""
        return LaunchLine(**{**self.as_said(), **fields})


class FailureLine(Kept):
    """Why a point or a launch was not measured.

    A failure (`reason`), what is never done (`limitation`), or what the campaign's time ended (`left_out`).
    """

    time: str = ""
    index: Whole | None = None
    variant: str = ""
    mapping: str = ""
    reason: str = ""
    limitation: str = ""
    left_out: str = ""
    series: Key | None = None
    bytes: Whole | None = None
    effect: str = ""
    asked: str = Field(default="", description="a question about the effect")

    def of_launch(self, variant: str, mapping: str, index: int, **why: str) -> FailureLine:
        """The same of that launch, with the reason."""
        return FailureLine(**{"variant": variant, "mapping": mapping, "index": index, **self.as_said(), **why})

    @property
    def subject(self) -> tuple[object, ...]:
        """What was not measured."""
        return self.variant, self.mapping, self.index, self.series, self.bytes, self.effect, self.asked


class Ended(Kept):
    """How a run of a campaign ended. `whole`: nothing is left that going on could measure."""

    time: str = ""
    whole: bool = False
    why: str = ""
    left_out: Whole = 0
    share: str = Field(default="", description="2/3: the second of three jobs that share the launches")


SCHEMA_VERSION = 1
Form = TypeVar("Form", bound=BaseModel)


def load(kind: type[Form], path: Path, what: str, field: str, hint: str) -> Form:
    """The file as `kind`; RequestError where it cannot be read, is no JSON, is newer, or is no such thing.

    `field` is what every `what` has beside its version.
    """
    text = reading.text(path, hint)
    data = reading.parsed(text, reading.printable(path), hint)
    if not isinstance(data, dict) or not {"schema_version", field} <= data.keys():
        raise RequestError(f"{path} is no {what} (no schema_version and {field})", hint)
    reading.expect_version(data["schema_version"], SCHEMA_VERSION, path)
    try:
        # A shape's number of nodes is a key, which JSON can only write as text.
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise RequestError(f"{path}: {first_problem(error)}", hint) from error


def find(kind: type[Form], file: Path, hint: str) -> Form | None:
    """A file of a campaign's folder; None where there is none, RequestError where it is damaged."""
    try:
        return kind.model_validate_json(reading.content(file, within=file.parent))
    except reading.Absent:
        return None
    except ValidationError as error:
        raise RequestError(f"{file} is damaged ({first_problem(error)})", hint) from error


def write(file: Path, content: BaseModel) -> None:
    """NotWritten where the file cannot be."""
    writing.replace(file, json.dumps(content.model_dump(), indent=1, ensure_ascii=False) + "\n")
