"""nccl-tests (github.com/NVIDIA/nccl-tests) and rccl-tests: the printed tables, JSON and CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path

from hockney.importers._lines import Prefix, TextLine, is_number, is_size
from hockney.importers._nccl import (
    OPERATIONS,
    NcclRow,
    NcclRun,
    add,
    is_file,
    letters,
    library,
    program,
    read_file,
)
from hockney.importers._tables import BenchmarkTable, TableReader, has_title
from hockney.importers.base import Fact, Given, Imported, Importer, importers

_COLUMNS = re.compile(r"(?P<before>[^#]{0,120}?)#\s+(?P<columns>size\s+count\s.*\bbusbw\b.*)$")
_OUTSIDE = re.compile(r"# Avg bus bandwidth|# nccl-tests version|# Collective test starting:|# nThread[ :]")
"""The end of a table, or the beginning of the next run where one broke off."""
_DEVICE = re.compile(r"#\s+Rank\s+(\d{1,9})\s+(?:Group\s+(\d{1,9})\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s")
_DOTS = re.compile(r"[\s#]*(?:\.{3,}|…)\s*")
"""The program cuts its list of a process's devices at 2048 characters, and who quotes a list does, too."""
_ITERATIONS = re.compile(
    r"# nThread.* warmup iters: \d+ iters: (?P<iterations>\d{1,9})(?: agg iters: (?P<aggregated>\d{1,9}))?"
)
_LIBRARY_CODE = re.compile(r"nccl-library=(\d{4,6})\b")
_LIBRARY = re.compile(r"\b([NR]CCL) version\s*:?\s*(\d+\.\d+[\w.+-]*)")
_UNIT = re.compile(r"\((ns|us|ms|s)\)")
_UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
_OUT_OF_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*(\d+)\s+(\w+)")


@dataclass
class _NcclTable(BenchmarkTable):
    run: NcclRun = field(default_factory=NcclRun)
    time_us: float = 1.0
    """The unit of its times."""


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is the header of a table, or the text is one of the files."""
    return is_file(text) or has_title(text, "busbw", _COLUMNS)


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text, in its order; out of place and in place are two of them."""
    if is_file(text):
        return read_file(path, text, given)
    imported = _NcclReader(path, given).read(text)
    imported.tool = "nccl-tests"
    return imported


class _NcclReader(TableReader[_NcclTable]):
    """What a run says of itself stands before its table, whose title is the line of its columns."""

    title = _COLUMNS
    fixed_decimals = False

    def __init__(self, path: Path, given: Given) -> None:
        super().__init__(path, given)
        self._begin_run()

    def _begin_run(self) -> None:
        self._run = NcclRun()
        self._devices: list[tuple[int, int, str]] = []
        self._ends_in_dots = False

    def begin(self, line: TextLine) -> _NcclTable | None:
        header = _COLUMNS.match(line.text)
        if header is None:
            return None
        run, columns, where = self._run, header["columns"].split(), f"{self.path}:{line.number}"
        run.place([] if self._ends_in_dots else self._devices)
        listed = {"ranks": Fact(run.ranks, where, f"rank {run.ranks - 1} of its devices")} if run.ranks else {}
        if "ranks" in getattr(self._options, "overriding", ()) and run.ranks != self._options.ranks:
            run.ranks, run.nodes, run.ppn = self._options.ranks, None, None
        run.ranks = run.ranks or self.given.ranks
        run.name = run.name or self.given.operation or _of_names(self.path)
        self._begin_run()
        cpu = "its times are those of the CPU that launches (-C 1), not of the operation"
        return _NcclTable(
            f"nccl-tests {run.name or 'table of an unknown program'}",
            where,
            Prefix(header["before"]),
            cpu if "cputime" in columns else run.why_not(),
            columns,
            facts=listed,
            run=run,
        )

    def ends(self, line: TextLine) -> bool:
        return _OUTSIDE.search(line.text) is not None

    def aside(self, line: TextLine, table: _NcclTable | None) -> None:
        """Take what a run says of itself; the launch line of the next may follow a table that broke off."""
        if "_perf" in line.text and "concluded" not in line.text:
            self._run.name = program(line.text) or self._run.name
        if table is not None:
            return
        if device := _DEVICE.search(line.text):
            self._devices.append((int(device[2] or 0), int(device[1]), device[3]))
            self._ends_in_dots = False
        elif batch := _ITERATIONS.search(line.text):
            self._run.batch = int(batch["iterations"]) * int(batch["aggregated"] or 1)
        elif code := _LIBRARY_CODE.search(line.text):
            self._run.library = library(int(code[1]))
        elif words := _LIBRARY.search(line.text):
            self._run.library = self._run.library or f"{words[1]} {words[2]}"
        elif _DOTS.fullmatch(line.text):
            self._ends_in_dots = bool(self._devices)

    def header(self, table: _NcclTable, content: str, where: str) -> bool:
        """The unit of the times; below the table, the limit of the largest error that older releases print."""
        if unit := _UNIT.search(content):
            table.time_us = _UNITS_US[unit[1]]
        if not table.not_imported and (bounds := _OUT_OF_BOUNDS.match(content)) and "error" in table.columns:
            for record in table.run.records:
                record.verified = bounds[2] == "OK"
            if bounds[2] != "OK":
                self.imported.warn(
                    where, f"{bounds[1]} values out of bounds: this table is marked as not verified"
                )
        return True

    def cells(self, table: _NcclTable, content: str) -> list[str]:
        """The cells of a row: a time stamp is a date and a time, and older releases leave the reduction blank."""
        cells, columns = super().cells(table, content), table.columns
        if columns[-1] == "timestamp" and len(cells) > 2:
            cells[-2:] = [" ".join(cells[-2:])]
        at = columns.index("redop") if "redop" in columns else -1
        if at >= 0 and len(cells) == len(columns) - 1 and is_number(cells[at].lstrip("-")):
            cells.insert(at, "")
        return cells

    def fits(self, column: str, cell: str) -> bool:
        if column in ("size", "count"):
            return is_size(cell)
        return (
            is_number(cell)
            or column in ("type", "redop", "timestamp")
            or (column in ("#wrong", "error") and cell == "N/A")
            or (column == "root" and cell == "-1")
        )

    def row(self, table: _NcclTable, cells: Sequence[str], where: str) -> None:
        columns = table.columns
        first, *starts = [index for index, name in enumerate(columns) if name == "time"]
        size = dict(zip(columns[:first], cells[:first], strict=True))
        for start, end in pairwise([first, *starts, len(columns)]):
            part = dict(zip(columns[start:end], cells[start:end], strict=True))
            if float(part["time"]) == 0:
                table.zeros.append(f"time {part['time']} at {size['size']} B")
                continue
            times = {"time": float(part["time"]) * table.time_us, "wrong": part.get("#wrong", "N/A")}
            row = NcclRow.model_validate({"root": -1, **size, **times, "inplace": start != first})
            add(table.run, row, where, self.imported)


def _of_names(path: Path) -> str:
    """The program or longest operation in a file's name, `allreduce_8gpus.txt`, or words of a folder's."""
    for name in reversed(path.parts[-3:]):
        stem = name.partition(".")[0]
        words = re.findall("[a-z]+", stem.lower())
        phrases = {"".join(words[first:end]) for first, end in combinations(range(len(words) + 1), 2)}
        said = letters(stem) if name == path.name else phrases
        if found := program(name) or max((known for known in OPERATIONS if known in said), key=len, default=""):
            return found
    return ""


importers.register("nccl_tests")(Importer("nccl-tests text, JSON or CSV", recognises, read))
