"""nccl-tests (github.com/NVIDIA/nccl-tests) and rccl-tests: the printed tables, JSON and CSV."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from hockney.importers import _nccl_files
from hockney.importers._lines import (
    Line,
    Prefix,
    below_resolution,
    is_number,
    is_size,
    split_lines,
)
from hockney.importers._nccl import OPERATIONS, NcclRun, Row, add, letters, library, program
from hockney.importers.base import Given, Imported, Importer, importers

_TABLE = re.compile(r"(?P<before>[^#]{0,120}?)#\s+(?P<columns>size\s+count\s.*\bbusbw\b.*)$")
_OUTSIDE = re.compile(r"# Avg bus bandwidth|# nccl-tests version|# Collective test starting:|# nThread ")
"""The end of a table, or the beginning of the next run where one broke off."""
_DEVICE = re.compile(r"#\s+Rank\s+\d+\s+(?:Group\s+(\d{1,9})\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s")
_ITERATIONS = re.compile(r"# nThread .* warmup iters: \d+ iters: (\d{1,9})(?: agg iters: (\d{1,9}))?")
_LIBRARY_CODE = re.compile(r"nccl-library=(\d{4,6})\b")
_LIBRARY = re.compile(r"\b([NR]CCL) version\s*:?\s*(\d+\.\d+[\w.+-]*)")
_OUT_OF_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*(\d+)\s+(\w+)")


@dataclass
class _Table:
    """The run being read and, once its header is seen, the columns."""

    run: NcclRun = field(default_factory=NcclRun)
    devices: list[tuple[int, str]] = field(default_factory=list)
    all_devices: bool = True
    line: int = 0
    prefix: Prefix | None = None
    columns: list[str] = field(default_factory=list)
    rows: int = 0
    below: list[str] = field(default_factory=list)


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is the header of a table, or the text is one of the files."""
    return _nccl_files.is_ours(text) or (
        "busbw" in text and any(_TABLE.match(line.text) for line in split_lines(text))
    )


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text, in its order; out of place and in place are two of them."""
    if _nccl_files.is_ours(text):
        return _nccl_files.read(path, text, given)
    imported = Imported(tool="nccl-tests")
    table = _Table()
    before: list[str] = []
    for line in split_lines(text):
        if header := _TABLE.match(line.text):
            if table.prefix:
                _finish(table, path, imported)
                table = _Table()
            _begin(table, header, line, path, before, given, imported)
            continue
        if table.prefix and _OUTSIDE.search(line.text):
            _finish(table, path, imported)
            table, before = _Table(), []
        content = table.prefix.strip(line.text) if table.prefix else None
        if table.prefix is None:
            before.append(line.text)
            _preamble(table, line.text)
        elif content and content.startswith("#"):
            _footer(table, content, f"{path}:{line.number}", imported)
        elif content and table.columns:
            _row(table, content, line, path, imported)
    _finish(table, path, imported)
    return imported


def _preamble(table: _Table, text: str) -> None:
    run = table.run
    if device := _DEVICE.search(text):
        table.devices.append((int(device[1] or 0), device[2]))
    elif iterations := _ITERATIONS.search(text):
        run.batch = int(iterations[1]) * int(iterations[2] or 1)
    elif code := _LIBRARY_CODE.search(text):
        run.library = library(int(code[1]))
    elif words := _LIBRARY.search(text):
        run.library = run.library or f"{words[1]} {words[2]}"
    elif text.strip() == "..." and table.devices:
        # The program cuts its list of a process's devices at 2048 characters and says so by these dots.
        table.all_devices = False


def _begin(
    table: _Table,
    header: re.Match[str],
    line: Line,
    path: Path,
    before: list[str],
    given: Given,
    imported: Imported,
) -> None:
    run = table.run
    table.line, table.prefix = line.number, Prefix(header["before"])
    run.place(table.devices if table.all_devices else [])
    run.ranks = run.ranks or given.ranks
    run.name = program("\n".join(before)) or program(path.name) or _of_file_name(path)
    where = f"{path}:{line.number}"
    columns = header["columns"].split()
    if run.operation() is None:
        what = f"{run.name}_perf, which is not imported" if run.name else "of an unknown program"
        imported.not_imported.append(
            f"{where}: a table of nccl-tests {what}; programs that are: {', '.join(sorted(OPERATIONS))}"
            + ("" if run.name else "; name the file after its program (all_reduce_perf.txt)")
        )
    elif "cputime" in columns:
        imported.not_imported.append(f"{where}: times of the CPU that launches (-C 1), not of the operation")
    else:
        table.columns = columns


def _of_file_name(path: Path) -> str:
    """An operation that the file's name contains, the longest: `allreduce_8gpus.txt`."""
    stem = letters(path.name.partition(".")[0])
    return max((name for name in OPERATIONS if name in stem), key=len, default="")


def _footer(table: _Table, content: str, where: str, imported: Imported) -> None:
    """Older releases print the largest error, whose limit only this line knows."""
    if (bounds := _OUT_OF_BOUNDS.match(content)) and "error" in table.columns:
        for record in table.run.records:
            record.verified = bounds[2] == "OK"
        if bounds[2] != "OK":
            imported.warnings.append(
                f"{where}: {bounds[1]} values out of bounds: this table is marked as not verified"
            )


def _row(table: _Table, content: str, line: Line, path: Path, imported: Imported) -> None:
    tokens, columns, where = content.split(), table.columns, f"{path}:{line.number}"
    if not is_size(tokens[0]):
        return
    stamped = "timestamp" in columns
    cells = tokens[: len(columns)]
    if len(tokens) != len(columns) + stamped or not _numbers(columns, cells):
        cut = "" if line.ended else " (the file ends inside this line)"
        imported.warnings.append(f"{where}: not a row of this table, left out{cut}: {content[:80]}")
        return
    if not line.ended:
        imported.warnings.append(f"{where}: the last line may be cut short, left out: {content[:80]}")
        return
    table.rows += 1
    values = dict(zip(columns, cells, strict=True))
    root = values.get("root", "")
    starts = [index for index, name in enumerate(columns) if name == "time"]
    for in_place, (start, end) in enumerate(zip(starts, [*starts[1:], len(columns)], strict=True)):
        part = dict(zip(columns[start:end], cells[start:end], strict=True))
        wrong = part.get("#wrong", "N/A")
        if float(part["time"]) == 0:
            table.below.append(f"time {part['time']} at {tokens[0]} B")
            continue
        row = Row(
            size_B=int(tokens[0]),
            time_us=float(part["time"]),
            in_place=bool(in_place),
            count=int(values["count"]),
            datatype=values.get("type", "float"),
            redop=values.get("redop", ""),
            root=int(root) if is_size(root) else -1,
            wrong=None if wrong == "N/A" else float(wrong),
        )
        add(table.run, row, where, imported)


def _numbers(columns: list[str], cells: list[str]) -> bool:
    """Whether every cell is what its column holds; the count is whole, a check may be N/A, a root -1."""
    return all(
        is_size(cell)
        if name == "count"
        else is_number(cell)
        or name in ("type", "redop", "timestamp")
        or (name in ("#wrong", "error") and cell == "N/A")
        or (name == "root" and cell == "-1")
        for name, cell in zip(columns, cells, strict=True)
    )


def _finish(table: _Table, path: Path, imported: Imported) -> None:
    where = f"{path}:{table.line}"
    if table.columns and table.rows == 0:
        imported.warnings.append(f"{where}: nccl-tests {table.run.name} has no results; the run did not finish")
    if table.below:
        imported.warnings.append(f"{where}: {below_resolution(table.below)}")


importers.register("nccl_tests")(Importer("nccl-tests text, JSON or CSV", recognises, read))
