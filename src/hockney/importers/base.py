"""What an importer is: it recognises a file by its text and turns it into records in SI units."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.records.app_record import AppRecord
from hockney.records.record import Locality, Record
from hockney.registry import Registry

if TYPE_CHECKING:
    from hockney.records.columnar import RecordColumns

PARQUET_MAGIC = b"PAR1"
_HEAD_B = 8192
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Byte order marks; a Windows shell redirects text as UTF-16."""
IDLE = re.compile(r"\b\d+ of \d+ ranks$")
"""Ending of a variant in which the other ranks of the job waited: `2 of 64 ranks`."""


class Given(BaseModel, frozen=True):
    """Facts from the user, which fill the fields that a file leaves empty and override nothing."""

    system: Annotated[str, Option("Where the text does not say.", metavar="NAME")] = ""
    mpi: Annotated[str, Option("Its name and version, where the text does not say.", metavar="TEXT")] = ""
    nodes: Annotated[int | None, Option("Of the job."), Field(ge=1)] = None
    ppn: Annotated[int | None, Option("Where the text does not say."), Field(ge=1)] = None
    ranks: Annotated[int | None, Option("Where the text does not say."), Field(ge=1)] = None
    mapping: Annotated[str, Option("Where the text does not say.")] = ""
    algorithm: Annotated[str, Option("Where one was forced, and the text does not say which.")] = ""
    statistic: Annotated[str, Option("Of a tidy table that does not say it.")] = ""
    variant: Annotated[str, Option("Where the text does not say. [default: from the folders of the files]")] = ""
    locality: Annotated[Locality | None, Option("Where the text does not say.")] = None


@dataclass
class Imported:
    """What one file held.

    `apps` are runs of applications. `columns` stands in place of `records` where there may be millions of them.
    A record's `algorithm` is "" where the text could not say it. Its `variant` carries only what the text itself
    says beyond the other fields (a datatype, idle ranks); `repetition` counts inside a tidy table and is 0
    otherwise. `metadata` is what the header says. `is_of_given_statistic`: the text does not say which times it
    holds, `Given.statistic` did. `warnings` name file and line of what was left out; `not_imported` are whole
    tables left out.
    """

    records: list[Record] = field(default_factory=list)
    columns: RecordColumns | None = None
    apps: list[AppRecord] = field(default_factory=list)
    tool: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    is_of_given_statistic: bool = False
    warnings: list[str] = field(default_factory=list)
    not_imported: list[str] = field(default_factory=list)

    def warn(self, where: str, text: str) -> None:
        """Name the line that a warning is about."""
        self.warnings.append(f"{where}: {text}")

    def count(self) -> int:
        """How many records and runs there are."""
        return len(self.records if self.columns is None else self.columns) + len(self.apps)

    def left_out(self) -> list[str]:
        """Everything that was left out, whole tables first."""
        return [*self.not_imported, *self.warnings]


@dataclass(frozen=True)
class Importer:
    """One format. `read` raises RequestError where nothing of the file can be trusted."""

    title: str
    recognises: Callable[[Path, str], bool]
    read: Callable[[Path, str, Given], Imported]


importers: Registry[Importer] = Registry("importer", "hockney.importers", "reference/importers.md")


def load_text(path: Path) -> str:
    """A file's text, unpacked where it is gzip; "" for Parquet, which only its own importer can read.

    RequestError where it is missing, unreadable, empty, damaged or binary.
    """
    hint = "give results of a benchmark, a tidy table, or a folder"
    # A large binary file met in a folder is not read to its end.
    data = reading.beginning(path, _HEAD_B, hint)
    if data.startswith(PARQUET_MAGIC):
        return ""
    if not _is_binary(data):
        data = reading.unpacked(path, hint)
    if not data.strip():
        raise RequestError(f"{path} is empty", "run the benchmark again, or leave the file out")
    if _is_binary(data):
        raise RequestError(f"{path} is a binary file", "give results of a benchmark, or a tidy table")
    return data.decode(_MARKS.get(data[:2], "utf-8-sig"), errors="replace")


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and not data.startswith((PARQUET_MAGIC, reading.GZIP_MAGIC, *_MARKS))
