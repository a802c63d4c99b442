"""nccl-tests (github.com/NVIDIA/nccl-tests) and rccl-tests: the printed tables, JSON and CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hockney.importers import _nccl_files
from hockney.importers._lines import Prefix, TextLine, is_number, is_size
from hockney.importers._nccl import OPERATIONS, NcclRow, NcclRun, add, letters, library, program
from hockney.importers._tables import BenchmarkTable, TableReader, has_title
from hockney.importers.base import Given, Imported, Importer, importers

_COLUMNS = re.compile(r"(?P<before>[^#]{0,120}?)#\s+(?P<columns>size\s+count\s.*\bbusbw\b.*)$")
_OUTSIDE = re.compile(r"# Avg bus bandwidth|# nccl-tests version|# Collective test starting:|# nThread ")
"""The end of a table, or the beginning of the next run where one broke off."""
_DEVICE = re.compile(r"#\s+Rank\s+\d+\s+(?:Group\s+(\d{1,9})\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s")
_ITERATIONS = re.compile(r"# nThread .* warmup iters: \d+ iters: (\d{1,9})(?: agg iters: (\d{1,9}))?")
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
    return _nccl_files.is_ours(text) or has_title(text, "busbw", _COLUMNS)


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text, in its order; out of place and in place are two of them."""
    if _nccl_files.is_ours(text):
        return _nccl_files.read(path, text, given)
    imported = _NcclReader(path, given).read(text)
    imported.tool = "nccl-tests"
    return imported


class _NcclReader(TableReader[_NcclTable]):
    """What a run says of itself stands before its table, whose title is the line of its columns."""

    fixed_decimals = False

    def __init__(self, path: Path, given: Given) -> None:
        super().__init__(path, given)
        self._before: list[str] = []
        self._begin_run()

    def _begin_run(self) -> None:
        self._run = NcclRun()
        self._devices: list[tuple[int, str]] = []
        self._all_devices = True

    def begin(self, line: TextLine) -> _NcclTable | None:
        header = _COLUMNS.match(line.text)
        if header is None:
            return None
        run = self._run
        run.place(self._devices if self._all_devices else [])
        run.ranks = run.ranks or self.given.ranks
        run.name = program("\n".join(self._before)) or program(self.path.name) or _of_file_name(self.path)
        columns = header["columns"].split()
        self._begin_run()
        return _NcclTable(
            f"nccl-tests {run.name or 'table of an unknown program'}",
            f"{self.path}:{line.number}",
            Prefix(header["before"]),
            _why_not(run, columns),
            columns,
            run=run,
        )

    def ends(self, line: TextLine) -> bool:
        if _OUTSIDE.search(line.text) is None:
            return False
        self._before = []
        return True

    def aside(self, line: TextLine, table: _NcclTable | None) -> None:
        if table is not None:
            return
        self._before.append(line.text)
        if device := _DEVICE.search(line.text):
            self._devices.append((int(device[1] or 0), device[2]))
        elif iterations := _ITERATIONS.search(line.text):
            self._run.batch = int(iterations[1]) * int(iterations[2] or 1)
        elif code := _LIBRARY_CODE.search(line.text):
            self._run.library = library(int(code[1]))
        elif words := _LIBRARY.search(line.text):
            self._run.library = self._run.library or f"{words[1]} {words[2]}"
        elif line.text.strip() == "..." and self._devices:
            # The program cuts its list of a process's devices at 2048 characters and says so by these dots.
            self._all_devices = False

    def header(self, table: _NcclTable, content: str, where: str) -> None:
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

    def cells(self, table: _NcclTable, content: str) -> list[str]:
        words = content.split()
        # A time stamp is a date and a time of day.
        has_stamp = table.columns[-1] == "timestamp" and len(words) == len(table.columns) + 1
        return [*words[:-2], " ".join(words[-2:])] if has_stamp else words

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
        values = dict(zip(columns, cells, strict=True))
        root = values.get("root", "")
        starts = [index for index, name in enumerate(columns) if name == "time"]
        for in_place, (start, end) in enumerate(zip(starts, [*starts[1:], len(columns)], strict=True)):
            part = dict(zip(columns[start:end], cells[start:end], strict=True))
            wrong = part.get("#wrong", "N/A")
            if float(part["time"]) == 0:
                table.zeros.append(f"time {part['time']} at {values['size']} B")
                continue
            row = NcclRow(
                size_B=int(values["size"]),
                time_us=float(part["time"]) * table.time_us,
                in_place=bool(in_place),
                count=int(values["count"]),
                datatype=values.get("type", "float"),
                redop=values.get("redop", ""),
                root=int(root) if is_size(root) else -1,
                wrong=None if wrong == "N/A" else float(wrong),
            )
            add(table.run, row, where, self.imported)


def _of_file_name(path: Path) -> str:
    """An operation that the file's name contains, the longest: `allreduce_8gpus.txt`."""
    stem = letters(path.name.partition(".")[0])
    return max((name for name in OPERATIONS if name in stem), key=len, default="")


def _why_not(run: NcclRun, columns: Sequence[str]) -> str:
    """The reason why a table with these columns is not imported; empty where it is."""
    if "cputime" in columns:
        return "its times are those of the CPU that launches (-C 1), not of the operation"
    if run.operation() is not None:
        return ""
    known = f"known are {', '.join(sorted(OPERATIONS))}"
    if run.name:
        return f"it is an unknown program; {known}"
    return f"name the file after its program (all_reduce_perf.txt); {known}"


importers.register("nccl_tests")(Importer("nccl-tests text, JSON or CSV", recognises, read))
