"""The reader of benchmark tables in printed text: title, header lines, rows of numbers.

OSU, IMB and nccl-tests print the same kind of table. Each of these importers declares what differs: how a table
begins, what its header lines say, what the cells of a column may be, and which records a row gives.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from hockney.importers._lines import Prefix, TextLine, is_number, split_lines
from hockney.importers.base import Given, Imported
from hockney.records.record import Record
from hockney.records.statistic import StatisticName

Unit = tuple[StatisticName, float]
"""What a column holds, and the factor from its unit to the SI unit."""


@dataclass
class BenchmarkTable:
    """A title and what follows it; `where` is the title's file and line.

    `not_imported` is the reason why the whole table is left out. `zeros` are the values printed as zero.
    """

    name: str
    where: str
    prefix: Prefix
    not_imported: str = ""
    columns: list[str] = field(default_factory=list)
    rows: int = 0
    decimals: int = 2
    """Decimals of the last value of a row, from the row before."""
    zeros: list[str] = field(default_factory=list)


Table = TypeVar("Table", bound=BenchmarkTable)


class TableReader(ABC, Generic[Table]):
    """Reads every table of a text, in its order, into `imported`."""

    comment: ClassVar[tuple[str, ...]] = ("#",)
    """How a line inside a table begins that is no row."""
    fixed_decimals: ClassVar[bool] = True
    """Whether the last column has a fixed number of decimals, which shows a value that was cut short."""
    without_rows: ClassVar[str] = "the run did not finish"

    def __init__(self, path: Path, given: Given) -> None:
        self.path = path
        self.given = given
        self.imported = Imported()

    @abstractmethod
    def begin(self, line: TextLine) -> Table | None:
        """The table whose title this line is; None for any other line."""

    def ends(self, line: TextLine) -> bool:  # noqa: ARG002 - most tables end where the next one begins
        """Whether this line, no title, ends a table."""
        return False

    def aside(self, line: TextLine, table: Table | None) -> None:
        """Take the facts about the run from a line that is no title. `table` is None outside of a table."""

    @abstractmethod
    def header(self, table: Table, content: str, where: str) -> None:
        """Take the facts about the table from a line that is no row."""

    def cells(self, table: Table, content: str) -> list[str]:  # noqa: ARG002
        """The cells of a row."""
        return content.split()

    @abstractmethod
    def fits(self, column: str, cell: str) -> bool:
        """Whether a column may hold this cell."""

    @abstractmethod
    def row(self, table: Table, cells: Sequence[str], where: str) -> None:
        """Add the records of a row whose cells fit their columns."""

    def read(self, text: str) -> Imported:
        """Read the whole text. A damaged row is left out and named."""
        table: Table | None = None
        for line in split_lines(text):
            begun = self.begin(line)
            if table is not None and (begun is not None or self.ends(line)):
                self.finish(table)
                table = None
            if begun is not None:
                table = begun
                continue
            self.aside(line, table)
            content = table.prefix.strip(line.text) if table else None
            if table is None or not content:
                continue
            if content.startswith(self.comment):
                self.header(table, content, f"{self.path}:{line.number}")
            elif table.columns and not table.not_imported:
                self._row(table, content, line)
        if table is not None:
            self.finish(table)
        return self.imported

    def _row(self, table: Table, content: str, line: TextLine) -> None:
        cells = self.cells(table, content)
        where = f"{self.path}:{line.number}"
        if not self.fits(table.columns[0], cells[0]):
            return
        if len(cells) != len(table.columns) or not all(map(self.fits, table.columns, cells)):
            cut = "" if line.ended else " (the file ends inside this line)"
            self.imported.warn(where, f"not a row of this table, left out{cut}: {content[:80]}")
            return
        if not line.ended and not self._is_whole(cells[-1], table.decimals):
            self.imported.warn(where, f"the last line may be cut short, left out: {content[:80]}")
            return
        table.decimals = _decimals(cells[-1])
        table.rows += 1
        self.row(table, cells, where)

    def _is_whole(self, cell: str, decimals: int) -> bool:
        """Whether the last value of a line without line end has all its digits."""
        if not self.fixed_decimals:
            return False
        return not is_number(cell) or 0 < decimals <= _decimals(cell)

    def add(
        self,
        table: Table,
        size_B: int,
        values: Mapping[str, str],
        units: Mapping[str, Unit],
        where: str,
        **fields: Any,
    ) -> list[tuple[str, Record]]:
        """A record of each column of `units` that a row has, with its column; zeros are noted.

        The bandwidth of an empty message is always zero and says nothing.
        """
        records = []
        for column, (statistic, unit) in units.items():
            if column not in values:
                continue
            if (value := float(values[column]) * unit) > 0:
                record = Record(bytes=size_B, statistic=statistic, value=value, origin=where, **fields)
                records.append((column, record))
            elif size_B > 0 or statistic != "bandwidth_B_per_s":
                table.zeros.append(f"{column} {values[column]} at {size_B} B")
        if fields.get("verified") is False:
            self.imported.warn(
                where, "the benchmark found wrong results in this row; it is marked as not verified"
            )
        self.imported.records += [record for _, record in records]
        return records

    def block_B(self, vector_B: int, ranks: int | None, where: str) -> int | None:
        """One rank's block of a vector, divided as evenly as its elements allow, to the nearest byte.

        None, with a warning, where the ranks are not known, or some rank has no byte.
        """
        if ranks is None:
            self.imported.warn(where, "left out: the bytes are the whole vector; its block needs --ranks")
        elif 0 < vector_B < ranks:
            self.imported.warn(where, f"left out: {vector_B} B are no block for each of {ranks} ranks")
        else:
            return round(vector_B / ranks)
        return None

    def finish(self, table: Table) -> None:
        """Name what is left out of a table that has been read."""
        if table.not_imported:
            self.imported.not_imported.append(
                f"{table.where}: {table.name} is not imported: {table.not_imported}"
            )
        elif table.rows == 0:
            self.imported.warn(table.where, f"{table.name} has no results; {self.without_rows}")
        if zeros := table.zeros:
            shown = ", ".join(zeros[:3]) + (f" and {len(zeros) - 3} more" if len(zeros) > 3 else "")
            self.imported.warn(
                table.where, f"{table.name}: printed as zero, so below the resolution, left out: {shown}"
            )


def has_title(text: str, word: str, title: re.Pattern[str]) -> bool:
    """Whether a line of the text is a title; only texts that hold `word` are looked through."""
    return word in text and any(title.match(line.text) for line in split_lines(text))


def family(name: str, families: Sequence[tuple[str, str]]) -> str:
    """Why a test of that name is not imported: its family, or "an unknown test"."""
    return next(
        (kind for pattern, kind in families if re.search(pattern, name, re.IGNORECASE)), "an unknown test"
    )


def _decimals(cell: str) -> int:
    """Digits after the point: `12.30` → 2, `7` → 0."""
    return len(cell.partition(".")[2])
