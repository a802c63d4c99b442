"""Sums of three-dimensional matrices, as rows of a printed table: size, topology, a, loads, interval of the mean.

    2400 x 100 x 100   (8, 3, 1)   1   P. 0,3: 1020000 P. 1,2: 990000   [0.62446, 0.630308]

`a` 0 is `balanced`, 1 `cartesian`. Blanks, `$`, `\\times`, `&` and `|` between the columns mean nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from hockney.importers._csv import LARGEST, LONGEST_S
from hockney.importers._lines import is_number, split_lines
from hockney.importers._tables import has_title
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.app_record import AppRecord

_WHOLE = r"(\d{1,10})"
_TIMES = r"\s*(?:\\times|x|×)\s*"
_ROW = re.compile(
    rf"^[\s$|]*{_WHOLE}{_TIMES}{_WHOLE}{_TIMES}{_WHOLE}[\s$|&]*"
    rf"\(\s*{_WHOLE}\s*,\s*{_WHOLE}\s*,\s*{_WHOLE}\s*\)[\s|&]*([01])[\s|&]*(P\.[^\[]{{1,10000}})"
    r"\[\s*([0-9.eE+-]+)\s*,\s*([0-9.eE+-]+)\s*\]"
)
_SPLITS = ("balanced", "cartesian")


def recognises(_path: Path, text: str) -> bool:
    """Whether a line is such a row."""
    return has_title(text, "P.", _ROW)


def read(path: Path, text: str, _given: Given) -> Imported:
    """A run for each row: the middle of its interval, in seconds."""
    imported = Imported(tool="sum3d")
    for line in split_lines(text):
        row = _ROW.match(line.text)
        if row is None:
            continue
        whole = [int(number) for number in row.groups()[:6]]
        ranks = whole[3] * whole[4] * whole[5]
        low, high = row[9], row[10]
        is_time = is_number(low) and is_number(high) and 0 < float(low) <= float(high) <= LONGEST_S
        if not is_time or min(whole) < 1 or ranks > LARGEST:
            imported.warn(f"{path}:{line.number}", "no sizes, or no interval of a time; left out")
            continue
        names = (f"{letter}{axis}" for letter in "np" for axis in "xyz")
        imported.apps.append(
            AppRecord.model_validate(
                {
                    "operation": "sum3d",
                    "ranks": ranks,
                    "parameters": {
                        **dict(zip(names, whole, strict=True)),
                        "split": _SPLITS[int(row[7])],
                        "packed": 0,
                    },
                    "time_s": (float(low) + float(high)) / 2,
                    "low_s": float(low),
                    "high_s": float(high),
                    "answer": {"statistic": "mean", "loads": " ".join(row[8].split()).rstrip(" |&")},
                }
            )
        )
    return imported


importers.register("sum3d")(Importer("sums of matrices: rows of a printed table", recognises, read))
