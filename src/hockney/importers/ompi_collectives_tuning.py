"""Tables of open-mpi/ompi-collectives-tuning: a row for each size, a column for each algorithm of `tuned`.

Read in its sources (coltune_analyze.py): `detail.out` has the mean over the runs of what OSU prints, in us, and
in brackets the runs' standard deviation; algorithm 0 (`tuned` in older tables) is the library's own choice. Where
the columns are numbers, `#Nnodes` is the number of ranks. The name of the folder is that of the collective.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.importers._lines import Prefix, TextLine, is_number, is_size
from hockney.importers._tables import BenchmarkTable, TableReader, has_title
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.keys import COLLECTIVES
from hockney.records.library_algorithms import library_algorithm
from hockney.records.record import Record

_COLUMNS = re.compile(r"(?P<before>[^#]{0,120}?)#N(?:nodes|ranks)\s+Message_size\s+(?P<names>\S.*)$")
_CELL = re.compile(r"(?P<mean>[\d.eE+]+)(?:\((?P<deviation>[\d.eE+]+)\))?")
_HALF_WIDTH = 2.48
"""Standard deviations from the mean to the ends of its 95 % interval: Student's t of three runs, 4.30 / √3.

The text has no number of runs; three is the example's, and more runs would make the interval narrower.
"""


@dataclass
class _TuningTable(BenchmarkTable):
    operation: str = ""


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is the header of such a table."""
    return has_title(text, "Message_size", _COLUMNS)


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text."""
    imported = _TuningReader(path, given).read(text)
    imported.tool = "ompi-collectives-tuning"
    return imported


def _collective(text: str) -> str:
    """The longest name of a collective that stands in a text as a word, or ""."""
    found = (name for name in COLLECTIVES if re.search(rf"(?<![a-z]){name}(?![a-z])", text))
    return max(found, key=len, default="")


def _algorithm(operation: str, name: str) -> str:
    """A column's algorithm in the words of the column `algorithm`; a name that `tuned` does not have stays."""
    if name == "tuned":
        return "default"
    words = (name, f"basic_{name}")
    return next(filter(None, (library_algorithm(operation, word, "tuned") for word in words)), f"tuned:{name}")


class _TuningReader(TableReader[_TuningTable]):
    title = _COLUMNS
    fixed_decimals = False

    def begin(self, line: TextLine) -> _TuningTable | None:
        header = _COLUMNS.match(line.text)
        if header is None:
            return None
        names = header["names"].split()
        said = (self.given.operation, self.path.absolute().parent.name, self.path.name)
        operation = next(filter(None, map(_collective, said)), "")
        why_not = "it has the fastest algorithm alone: import detail.out" if "Best_Algorithm" in names else ""
        if not operation:
            known = ", ".join(COLLECTIVES)
            why_not = (
                f"which collective it is of is not said: give --operation, or its folder that name ({known})"
            )
        columns = ["ranks" if all(map(is_size, names)) else "nodes", "bytes", *names]
        where = f"{self.path}:{line.number}"
        return _TuningTable(
            "ompi-collectives-tuning", where, Prefix(header["before"]), why_not, columns, operation=operation
        )

    def cells(self, table: _TuningTable, content: str) -> list[str]:
        """The cells of a row, which may repeat the library's own choice at its end."""
        cells = content.replace("No data", "-").split()
        return cells[: len(table.columns)] if len(cells) == len(table.columns) + 1 else cells

    def fits(self, column: str, cell: str) -> bool:
        if column in ("ranks", "nodes", "bytes"):
            return is_size(cell)
        numbers = _CELL.fullmatch(cell)
        return cell == "-" or (numbers is not None and all(map(is_number, filter(None, numbers.groups()))))

    def row(self, table: _TuningTable, cells: Sequence[str], where: str) -> None:
        values = dict(zip(table.columns, cells, strict=True))
        ranks = int(values["ranks"]) if "ranks" in values else self.given.ranks
        nodes = int(values["nodes"]) if "nodes" in values else None
        if ranks is None and nodes is not None and self.given.ppn:
            ranks = nodes * self.given.ppn
        size_B: int | None = int(values["bytes"])
        if table.operation == "reduce_scatter":
            size_B = self.block_B(int(values["bytes"]), ranks, where)
        for name in table.columns[2:]:
            cell = _CELL.fullmatch(values[name])
            if cell is None or size_B is None:
                continue
            mean_us, deviation_us = float(cell["mean"]), float(cell["deviation"] or 0)
            if mean_us == 0:
                table.zeros.append(f"{name} {cell[0]} at {size_B} B")
                continue
            half_us = _HALF_WIDTH * deviation_us
            record = Record(
                source="osu",
                operation=table.operation,
                algorithm=_algorithm(table.operation, name),
                bytes=size_B,
                statistic="mean_over_ranks",
                value=mean_us * 1e-6,
                low=max(mean_us - half_us, 0) * 1e-6 if half_us else None,
                high=(mean_us + half_us) * 1e-6 if half_us else None,
                ranks=ranks,
                nodes=nodes,
                origin=where,
            )
            self.imported.records.append(record)


importers.register("ompi_collectives_tuning")(Importer("detail.out of ompi-collectives-tuning", recognises, read))
