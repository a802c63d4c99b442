"""Campaigns made of what is there: results of other benchmarks, and campaigns joined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from hockney.errors import RequestError
from hockney.importers._collect import collect, write
from hockney.importers._summary import ImportAnswer as ImportAnswer
from hockney.importers._summary import summary
from hockney.importers.base import Given
from hockney.machine.locality import Localities, given_system
from hockney.options.joined import ImportOptions, MergeOptions
from hockney.records import merge as joining
from hockney.records.contents import Contents
from hockney.records.folder import TABLE
from hockney.records.next_step import next_step
from hockney.units import counted


@dataclass(frozen=True)
class MergeAnswer:
    """What the joined campaign holds."""

    campaign: str
    records: int
    runs: int
    answers_about_effects: int
    merged: list[str]
    warnings: list[str]
    next_step: Annotated[str, Field(exclude=True)]


def import_files(options: ImportOptions, given: Given, closing: Callable[[], object]) -> ImportAnswer:
    """Read results of other benchmarks and tidy tables into a new campaign.

    `closing` is called when all is read and written but for the last step. RequestError where nothing could be
    read; then nothing is written.
    """
    name, systems = given_system(given.system)
    given = given.model_copy(update={"system": name})
    localities = Localities(systems)
    collection = collect(options.files, given, options.format_name, located=localities.of_frame)
    write(collection, options.output, given, closing)
    answer = summary(collection, options.output)
    return replace(answer, notes=[*answer.notes, *localities.notes])


def merge(options: MergeOptions, closing: Callable[[], object]) -> MergeAnswer:
    """Join campaigns into a new one; `closing` is called when all but the last step is written.

    RequestError for fewer than two.
    """
    if len(options.campaigns) < 2:
        raise RequestError("one campaign cannot be merged", "name at least two campaign folders")
    contents = joining.merge(options.campaigns, options.output, closing)
    operations = {record.operation for record in contents.records}
    return MergeAnswer(
        campaign=str(options.output),
        records=len(contents.records),
        runs=len(contents.apps),
        answers_about_effects=len(contents.effects),
        merged=[str(path) for path in options.campaigns],
        warnings=[*contents.warnings, *_left_out(contents)],
        next_step=next_step(options.output, operations, has_effects=bool(contents.effects)),
    )


def _left_out(contents: Contents) -> list[str]:
    """What the table lacks of the records: launches that met other levels of the machine than the common one."""
    left_out = contents.settled.left_out
    if not left_out:
        return []
    launches = {record.launch or record.repetition for record in left_out}
    return [
        f"Fit the folder to have the other levels too: {TABLE} holds the machine's common level. It leaves out "
        f"{counted(len(left_out), 'record')} of {counted(len(launches), 'launch', plural='launches')} at other "
        "levels; their samples are in the records"
    ]
