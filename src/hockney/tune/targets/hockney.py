"""The table of `hockney apply`: our own schedules, run by its layer under any MPI."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hockney import reading
from hockney.errors import RequestError
from hockney.schedule.catalogue import algorithms
from hockney.tune.rules import Algorithm, Rule, joined
from hockney.tune.targets.base import Library, Target, targets


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    operation: str
    least_ranks: int = Field(ge=1)
    most_ranks: int | None = None
    least_bytes: int = Field(ge=0)
    most_bytes: int | None = None
    algorithm: str
    segment_bytes: int = Field(default=0, ge=0)
    radix: int = Field(default=0, ge=0)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1]
    mpi: str
    rules: list[_Rule]


def knows(operation: str, name: str, library: Library) -> bool:  # noqa: ARG001 - our schedules run under any MPI
    """Whether the name is that of a schedule."""
    return name in {algorithm.name for algorithm in algorithms(operation)}


def refuses(rule: Rule, library: Library) -> str:
    """Why a rule cannot be said."""
    known = knows(rule.operation, rule.algorithm.name, library)
    return "" if known else f"there is no schedule {rule.algorithm.name} of {rule.operation}"


def write(rules: Sequence[Rule], library: Library, comment: str) -> str:  # noqa: ARG001 - JSON has no comments
    table = _Table(
        schema_version=1,
        mpi=library.name,
        rules=[
            _Rule(
                operation=rule.operation,
                least_ranks=rule.least_ranks,
                most_ranks=rule.most_ranks,
                least_bytes=rule.least_B,
                most_bytes=rule.most_B,
                algorithm=rule.algorithm.name,
                segment_bytes=rule.algorithm.segment_B,
                radix=rule.algorithm.radix,
            )
            for rule in rules
        ],
    )
    return json.dumps(table.model_dump(), indent=1) + "\n"


def read(text: str, library: Library) -> list[Rule]:
    try:
        table = _Table.model_validate(reading.parsed(text, "the table", "write the file anew"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RequestError(f"the table has {where}: {first['msg']}", "write the file anew") from error
    rules = [
        Rule(
            one.operation,
            one.least_ranks,
            one.most_ranks,
            one.least_bytes,
            one.most_bytes,
            Algorithm(one.algorithm, one.segment_bytes, one.radix),
        )
        for one in table.rules
    ]
    if faults := [why for rule in rules if (why := refuses(rule, library))]:
        raise RequestError(faults[0], "write the file anew")
    return joined(rules)


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - `hockney apply` reads the file
    """None: `hockney apply --table FILE` sets what its layer needs."""
    return {}


targets.register("hockney")(
    Target(
        title="the table of `hockney apply`",
        banner="",
        versions=((), ()),
        knows=knows,
        refuses=refuses,
        write=write,
        read=read,
        settings=settings,
        is_preloaded=True,
    )
)
