"""Tables of other programs: rows by the names of their header, errors with file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path

from hockney.errors import RequestError
from hockney.importers._lines import is_number, is_size
from hockney.records.record import MOST

LONGEST_S = 1e6
"""Eleven days: what takes longer is a damaged number."""

LARGEST = 10**15
"""A petabyte, as well as more ranks than there are: what counts more is a damaged number, too."""

ELEMENT_B = {
    **dict.fromkeys(("int8", "uint8", "char", "unsigned_char"), 1),
    **dict.fromkeys(("f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("int16", "half", "bfloat16"), 2),
    **dict.fromkeys(("float", "int32", "uint32", "int"), 4),
    **dict.fromkeys(("double", "int64", "uint64"), 8),
}
"""Bytes of an element, by what PICO and nccl-tests call its type."""

_HINT = "restore the file, or remove that line"


def header(text: str) -> list[str]:
    """The names of the first line, [] where it cannot be read as one line of CSV."""
    try:
        return [name.strip() for name in next(csv.reader([text.lstrip().partition("\n")[0]]), [])]
    except csv.Error:
        return []


def rows(path: Path, text: str, needed: Collection[str]) -> list[tuple[str, dict[str, str]]]:
    """("file:line", name → text) of every row that is not blank; a table is taken whole or not at all.

    RequestError where a needed column is missing, or a row has more or fewer fields than the header.
    """
    reader = csv.reader(io.StringIO(text, newline=""))
    entries: list[tuple[str, dict[str, str]]] = []
    try:
        names = [name.strip() for name in next(reader, [])]
        if missing := [name for name in needed if name not in names]:
            raise RequestError(f"{path}: column {', '.join(missing)} is missing", "restore the header line")
        for fields in reader:
            where = f"{path}:{reader.line_num}"
            if not any(field.strip() for field in fields):
                continue
            if len(fields) != len(names):
                raise RequestError(f"{where}: {len(fields)} fields where the header has {len(names)}", _HINT)
            entries.append((where, {name: field.strip() for name, field in zip(names, fields, strict=True)}))
    except csv.Error as error:
        raise RequestError(f"{path}:{reader.line_num}: {error}", _HINT) from error
    return entries


def real(
    row: Mapping[str, str], name: str, where: str, most: float = MOST, what: str = "positive number"
) -> float:
    """A number above zero, up to `most`; RequestError for another, or none."""
    value = float(row[name]) if is_number(row[name]) else 0.0
    if not 0 < value <= most:
        raise RequestError(f"{where}: {name} {row[name]!r} is no {what}", _HINT)
    return value


def time_s(row: Mapping[str, str], name: str, where: str, unit_s: float) -> float:
    """A time in seconds, at most `LONGEST_S`."""
    return real(row, name, where, LONGEST_S / unit_s, "time of an operation") * unit_s


def count(row: Mapping[str, str], name: str, where: str) -> int:
    """A number of things, from one to `LARGEST`; RequestError otherwise."""
    value = int(row[name]) if is_size(row[name]) else 0
    if not 1 <= value <= LARGEST:
        raise RequestError(f"{where}: {name} {row[name]!r} is no number of anything", _HINT)
    return value
