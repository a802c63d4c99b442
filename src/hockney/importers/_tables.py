"""The reader of benchmark tables in printed text: title, header lines, rows of numbers.

OSU, IMB and nccl-tests print the same kind of table. Each of these importers declares what differs: how a table
begins, what its header lines say, what the cells of a column may be, and which records a row gives.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from hockney.importers._around import around_tables
from hockney.importers._lines import Prefix, TextLine, is_number, plain_number, plain_size, split_lines
from hockney.importers.base import NOTHING, Fact, Given, Imported
from hockney.records.record import Record
from hockney.records.statistic import StatisticName
from hockney.units import first_of

_OTHER_PROGRAM = re.compile(r"[A-Za-z](?!.*(?:warn|error|\[))", re.IGNORECASE)
"""Words that are no complaint of a launcher or library; below a blank line, or a word for each column, they are
the next program's."""
Unit = tuple[StatisticName, float]
"""What a column holds, and the factor from its unit to the SI unit."""


@dataclass(frozen=True)
class _Place:
    """How a row is printed: its size, the column that it ends in, the decimals of its last value.

    `end` is None where blanks were lost, so that rows do not end in one column.
    """

    size: int
    end: int | None
    decimals: int


@dataclass
class BenchmarkTable:
    """A title and what follows it; `where` is the title's file and line.

    `not_imported` is the reason why the whole table is left out. `facts` hold where no launch says the ranks.
    `zeros`: values printed as zero. `last` is the last row below the names of the columns, `gap` what stands
    below it, `ended_by` the line that ended the table, `unread` the first line that was not understood.
    """

    name: str
    where: str
    prefix: Prefix
    not_imported: str = ""
    columns: list[str] = field(default_factory=list)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    rows: int = 0
    zeros: list[str] = field(default_factory=list)
    last: _Place | None = None
    gap: Literal["", "blank line", "words"] = ""
    separators: str = ""
    ended_by: str = ""
    unread: str = ""


Table = TypeVar("Table", bound=BenchmarkTable)


class TableReader(ABC, Generic[Table]):
    """Reads every table of a text, in its order, into `imported`."""

    title: ClassVar[re.Pattern[str]]
    """A line that begins a table."""
    comment: ClassVar[tuple[str, ...]] = ("#",)
    """How a line inside a table begins that is no row."""
    size_column: ClassVar[str] = ""
    """The column of sizes; "" where rows are recognised by their cells alone."""
    sizes_rise: ClassVar[bool] = False
    """Whether every row is of a larger size than the one above."""
    fixed_decimals: ClassVar[bool] = True
    """Whether the last column has a fixed number of decimals, which shows a value that was cut short."""

    def __init__(self, path: Path, given: Given) -> None:
        self.path = path
        self._options = given
        self.given = given
        """What holds for the table that is read: what its text says of it, and options."""
        self.imported = Imported()

    @abstractmethod
    def begin(self, line: TextLine) -> Table | None:
        """The table whose title this line is; None for any other line."""

    def ends(self, line: TextLine) -> bool:  # noqa: ARG002 - most tables end where the next one begins
        """Whether this line, no title, ends a table."""
        return False

    def aside(self, line: TextLine, table: Table | None) -> None:
        """Take the facts about the run from a line that is no title. `table` is None outside of a table."""

    def header(self, table: Table, content: str, where: str) -> bool:  # noqa: ARG002 - some have none
        """Take the facts about the table from a line that is no row; False for a line of another program."""
        return False

    def separate(self, table: Table, content: str) -> None:
        """Take what scripts put between the columns, beside blanks, from the line that names them."""
        table.separators = "".join(set(content) & set(",;|"))

    def cells(self, table: Table, content: str) -> list[str]:
        """The cells of a row, with decimal points; sizes are whole."""
        blanks = content.translate(dict.fromkeys(map(ord, table.separators), " "))
        is_size = {at for at, column in enumerate(table.columns) if column == self.size_column}
        return [
            plain_size(cell) if at in is_size else plain_number(cell) for at, cell in enumerate(blanks.split())
        ]

    @abstractmethod
    def fits(self, column: str, cell: str) -> bool:
        """Whether a column may hold this cell."""

    @abstractmethod
    def row(self, table: Table, cells: Sequence[str], where: str) -> None:
        """Add the records of a row whose cells fit their columns."""

    def read(self, text: str) -> Imported:
        """Read the whole text. A damaged row is left out and named."""
        table: Table | None = None
        lines = split_lines(text)
        around = around_tables(self.path, lines, self.title)
        for place, line in enumerate(lines):
            if place in around:
                self.given = around[place].filled(self._options)
            begun = self.begin(line)
            if table is not None and (begun is not None or self.ends(line)):
                self.finish(table)
                table = None
            if begun is not None:
                table = begun
                of_table = around.get(place, NOTHING)
                if not of_table.launched():
                    of_table = replace(of_table, facts={**of_table.facts, **table.facts})
                self.imported.around.append((len(self.imported.records), of_table))
                self.imported.warnings += [
                    text for text in of_table.against if text not in self.imported.warnings
                ]
                continue
            self.aside(line, table)
            if table is not None:
                self._below(table, line)
        if table is not None:
            self.finish(table)
        return self.imported

    def _below(self, table: Table, line: TextLine) -> None:
        """A line below a title."""
        behind = table.prefix.strip(line.text)
        if behind is None:
            self._words(table, line, table.prefix.behind(line.text))
            return
        content = behind.strip()
        if (line.after_blank or not content) and not table.gap:
            table.gap = "blank line"
        if content.startswith(self.comment):
            if not self.header(table, content, f"{self.path}:{line.number}"):
                table.unread = table.unread or content
                table.ended_by = table.ended_by or (content if table.last else "")
        elif content and table.columns and not table.not_imported:
            self._row(table, behind, line)
        else:
            table.unread = table.unread or content

    def _row(self, table: Table, behind: str, line: TextLine) -> None:
        content, cells = behind.strip(), self.cells(table, behind)
        begins = bool(cells) and self.fits(table.columns[0], cells[0])
        if not begins or len(cells) != len(table.columns) or not all(map(self.fits, table.columns, cells)):
            if begins and not table.ended_by:
                cut = "" if line.ended else " (the file ends inside this line)"
                self._leave_out(line, f"not a row of this table, left out{cut}")
            elif (
                table.last
                and self.size_column
                and _OTHER_PROGRAM.match(content)
                and (
                    table.gap == "blank line"
                    or (len(cells) == len(table.columns) and not re.search(r"\d", content))
                )
            ):
                table.ended_by = table.ended_by or content
            elif not begins:
                self._words(table, line, content)
            table.gap, table.unread = "words", table.unread or content
            return
        if not line.ended and not self._is_whole(table, cells[-1]):
            self._leave_out(line, "the last line may be cut short, left out")
            return
        is_aligned = re.search(r"\S {2,}\S", behind) and "\t" not in behind
        size = int(cells[table.columns.index(self.size_column)]) if self.size_column in table.columns else 0
        place = _Place(size, len(behind) if is_aligned else None, _decimals(cells[-1]))
        if table.ended_by or not self._goes_on(table, place):
            why = f"which ends at {table.ended_by[:80]!r}" if table.ended_by else "by its size or its place"
            self._leave_out(line, f"no row of the {table.name} above, {why}; left out with all below")
            table.columns = []
            return
        table.last, table.gap = place, ""
        table.rows += 1
        self.row(table, cells, f"{self.path}:{line.number}")

    def _leave_out(self, line: TextLine, why: str) -> None:
        self.imported.warn(f"{self.path}:{line.number}", f"{why}: {line.text.strip()[:80]}")

    def _words(self, table: Table, line: TextLine, content: str) -> None:
        """Name a line that ends as a row does, its first number perhaps glued to the word before it."""
        cells = self.cells(table, content)[-len(table.columns) or len(content) :]
        first = re.search(r"\d+$", cells[0]) if cells else None
        if (
            first is not None
            and table.last is not None
            and not table.ended_by
            and _decimals(cells[-1]) == table.last.decimals
            and len(cells) == len(table.columns)
            and all(map(self.fits, table.columns, [first[0], *cells[1:]]))
        ):
            self._leave_out(line, "a row with other words before it, left out")

    def _goes_on(self, table: Table, place: _Place) -> bool:
        """Whether a row is of the same table as the last one.

        Below a blank line or words, sizes do not fall, and rows end in the same column, with as many decimals, as
        before; where blanks were lost, nothing but blank lines may stand between them.
        """
        last = table.last
        if last is None or not self.size_column:
            return True
        if (table.gap or self.sizes_rise) and place.size < last.size + self.sizes_rise:
            return False
        if last.end is None:
            return table.gap != "words"
        return not table.gap or (place.end, place.decimals) == (last.end, last.decimals)

    def _is_whole(self, table: Table, cell: str) -> bool:
        """Whether the last value of a line without line end has all its digits."""
        if not self.fixed_decimals:
            return False
        decimals = table.last.decimals if table.last else 2
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
            why = f"this is no row of it: {table.unread[:80]}" if table.unread else "the run did not finish"
            self.imported.warn(table.where, f"{table.name} has no results; {why}")
        if zeros := table.zeros:
            shown = first_of(zeros, 3)
            self.imported.warn(
                table.where, f"{table.name}: printed as zero, so below the resolution, left out: {shown}"
            )


def has_title(text: str, word: str, title: re.Pattern[str]) -> bool:
    """Whether a line of the text is a title; only texts that hold `word` are looked through."""
    return word in text and any(title.match(line.text) for line in split_lines(text))


def family(name: str, families: Sequence[tuple[str, str]], unknown: str = "an unknown test") -> str:
    """Why a test of that name is not imported: its family, or `unknown`."""
    return next((kind for pattern, kind in families if re.search(pattern, name, re.IGNORECASE)), unknown)


def _decimals(cell: str) -> int:
    """Digits after the point: `12.30` → 2, `7` → 0."""
    return len(cell.partition(".")[2])
