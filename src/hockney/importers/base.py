"""What an importer is: it recognises a file by its text and turns it into records in SI units."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.records.app_record import AppRecord
from hockney.records.library_algorithms import forced_by, forces
from hockney.records.record import Locality, Record
from hockney.registry import Registry

if TYPE_CHECKING:
    from hockney.records.columns import RecordColumns

PARQUET_MAGIC = b"PAR1"
_HEAD_B = 8192
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Byte order marks; a Windows shell redirects text as UTF-16."""
IDLE = re.compile(r"\b\d+ of \d+ ranks$")
"""Ending of a variant in which the other ranks of the job waited: `2 of 64 ranks`."""


class Given(BaseModel, frozen=True):
    """Facts from the user, which fill what tables leave empty and never override what a table itself says."""

    system: Annotated[
        str,
        Option("System of the ranks, where the text does not say it: any name, or a JSON file.", metavar="NAME"),
    ] = ""
    mpi: Annotated[
        str, Option("Name and version of the MPI, where the text does not say them.", metavar="TEXT")
    ] = ""
    nodes: Annotated[
        int | None, Option("Number of nodes, such as 2 for a ping-pong over the network."), Field(ge=1)
    ] = None
    ppn: Annotated[int | None, Option("Ranks on a node, where the text does not say it."), Field(ge=1)] = None
    ranks: Annotated[int | None, Option("Number of ranks, where the text does not say it."), Field(ge=1)] = None
    mapping: Annotated[str, Option("How ranks are mapped to cores, where the text does not say it.")] = ""
    algorithm: Annotated[str, Option("Algorithm that was forced, where the text does not say it.")] = ""
    statistic: Annotated[str, Option("Statistic of a tidy table that does not say it.")] = ""
    operation: Annotated[str, Option("Operation, where neither text nor file names say it.", metavar="NAME")] = ""
    variant: Annotated[
        str, Option("Variant, where the text does not say it. [default: from the folders of the files]")
    ] = ""
    locality: Annotated[Locality | None, Option("How far ranks are apart, where the text does not say it.")] = (
        None
    )


class Overriding(Given, frozen=True):
    """Facts from the user, of which `overriding` stand in place of what every text says alike."""

    overriding: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Fact:
    """What a text says of a table; `value` is None where it only says that there is one (`-np $NP`)."""

    value: str | int | None
    where: str
    """`file:line`, or the file's own name."""
    words: str


@dataclass(frozen=True)
class AroundTable:
    """What is said of one table: `facts` by the names of `Given`, `settings` by their own, and contradictions."""

    facts: Mapping[str, Fact] = field(default_factory=dict)
    settings: Mapping[str, Fact] = field(default_factory=dict)
    against: tuple[str, ...] = ()

    def filled(self, options: Given) -> Given:
        """The options, with what the text says of the table in place of those that do not override it."""
        overriding = options.overriding if isinstance(options, Overriding) else ()
        said = {name: fact.value for name, fact in self.facts.items() if name not in overriding and fact.value}
        filled = options.model_copy(update=said)
        if "ranks" in said and filled.nodes and filled.ppn and filled.nodes * filled.ppn != filled.ranks:
            # A job may have more places than this launch has ranks; then where they were is not known.
            filled = filled.model_copy(update={"nodes": said.get("nodes"), "ppn": said.get("ppn")})
        return filled

    def forced(self) -> dict[str, Fact]:
        """The settings that force an algorithm."""
        return {name: fact for name, fact in self.settings.items() if forces(name)[0]}

    def launched(self) -> int:
        """Ranks of the launch, 0 where they are not known."""
        return int(self.facts["ranks"].value or 0) if "ranks" in self.facts else 0

    def algorithm(self, operation: str) -> str:
        """The algorithm that settings force for an operation, or a heading or folder names; "" without one."""
        word = str(self.facts["algorithm"].value) if "algorithm" in self.facts else ""
        of, _, number = word.rpartition(" ")
        settings = {name: str(fact.value) for name, fact in self.settings.items()}
        return forced_by(settings, operation) or (number if of in ("", operation) else "")


NOTHING = AroundTable()


@dataclass
class Imported:
    """What one file held.

    `apps` are runs of applications. `columns` stands in place of `records` where there may be millions of them.
    A record's `algorithm` is "" where the text could not say it. Its `variant` carries only what the text itself
    says beyond the other fields (a datatype, idle ranks); `repetition` counts inside a tidy table and is 0
    otherwise. `metadata` is what the header says. `around` has for each table how many records stand before it,
    and what the text around it says. `warnings` name file and line of what was left out; `not_imported` are whole
    tables left out.
    """

    records: list[Record] = field(default_factory=list)
    columns: RecordColumns | None = None
    apps: list[AppRecord] = field(default_factory=list)
    tool: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    around: list[tuple[int, AroundTable]] = field(default_factory=list)
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
