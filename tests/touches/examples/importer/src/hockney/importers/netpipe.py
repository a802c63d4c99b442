"""NetPIPE 3 text, module MPI: a line for each size, with half the round trip in µs."""

from __future__ import annotations

import re
from pathlib import Path

from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.record import Record

_ROW = re.compile(r"^ *\d+: +(\d+) bytes +\d+ times --> +[\d.]+ Mbps in +([\d.]+) usec$", re.MULTILINE)


def recognises(_path: Path, text: str) -> bool:
    """By its first row."""
    return _ROW.search(text) is not None


def read(path: Path, text: str, _given: Given) -> Imported:
    """A ping-pong record of each row."""
    records = [
        Record(
            source="netpipe",
            operation="pingpong",
            bytes=int(row[1]),
            statistic="one_way",
            value=float(row[2]) * 1e-6,
            ranks=2,
            origin=f"{path}:{text.count(chr(10), 0, row.start()) + 1}",
        )
        for row in _ROW.finditer(text)
    ]
    return Imported(records=records, tool="NetPIPE")


importers.register("netpipe")(Importer("NetPIPE text", recognises, read))
