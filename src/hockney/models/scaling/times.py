"""Times of one program on several numbers of processes, from a CSV or Parquet file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.records.columns import POINT, SCALE
from hockney.records.table import RATES, text_rows
from hockney.units import LONGEST_S

Array = NDArray[np.float64]

PROCESSES = ("ranks", "processes")
UNITS_S = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6, "time_ns": 1e-9}
MOST_PROCESSES = 2**31 - 1
SHORTEST_S = 1e-12
SAME = tuple(name for name in POINT if name not in (*SCALE, "pair"))
"""Columns of the tidy table that say what was timed: one curve has one value in each."""
OF_RUNS = ("problem", "grid", "way")
"""Columns of the CSV that `hockney report --csv` writes of applications: a curve has one value at each count."""
HINT = f"a column {' or '.join(PROCESSES)} and one of {', '.join(UNITS_S)}, a row for each measured time"


@dataclass(frozen=True)
class Times:
    """`processes` (N,) whole numbers of at least 1, each once or several times, and `time_s` (N,) positive."""

    processes: Array
    time_s: Array

    @property
    def counts(self) -> Array:
        """The different numbers of processes, (M,), ascending."""
        return np.unique(self.processes)

    def medians_s(self) -> Array:
        """The median time at each of `counts`, (M,)."""
        return np.array([np.median(self.time_s[self.processes == count]) for count in self.counts])


def load(path: Path) -> Times:
    """Times of a `.csv`, `.csv.gz` or `.parquet` file; the unit of a time is in its column's name.

    RequestError for missing or doubled columns, for what is no positive number (with its row), and for a table of
    several curves.
    """
    frame, first_row = text_rows(path, f"give {HINT}")
    frame.columns = frame.columns.astype(str).str.strip()
    processes = _only(frame, path, PROCESSES, "number of processes")
    time = _only(frame, path, tuple(UNITS_S), "time")
    for name in (name for name in SAME if name in frame.columns):
        values = list(dict.fromkeys(frame[name].str.strip()))
        if name == "statistic" and (rates := [value for value in values if value in RATES]):
            raise RequestError(f"{path}: {rates[0]} is no time", "keep the rows of one statistic that is a time")
        if len(values) > 1:
            shown = ", ".join(repr(value) for value in values[:4]) + (", …" if len(values) > 4 else "")
            raise RequestError(
                f"{path} holds times of several curves: {name} is {shown}", f"keep the rows of one {name}"
            )
    if frame.empty:
        raise RequestError(f"{path} has no rows", f"give {HINT}")
    for name in (name for name in OF_RUNS if name in frame.columns):
        for ranks, values in frame.groupby(processes, sort=False)[name].unique().items():
            if len(values) > 1:
                raise RequestError(
                    f"{path} holds times of several curves: on {ranks} {processes}, {name} is "
                    f"{', '.join(map(repr, values[:4]))}{', …' if len(values) > 4 else ''}",
                    f"keep the rows of one {name}",
                )
    count = _positive(frame[processes], path, first_row)
    _refuse(frame[processes], count != count.round(), path, first_row, "is not a whole number of processes")
    _refuse(frame[processes], count > MOST_PROCESSES, path, first_row, "is more than MPI can count")
    time_s = _positive(frame[time], path, first_row) * UNITS_S[time]
    unlikely = (time_s < SHORTEST_S) | (time_s > LONGEST_S)
    _refuse(frame[time], unlikely, path, first_row, "is no time that can be measured")
    return Times(count, time_s)


def _only(frame: pd.DataFrame, path: Path, names: tuple[str, ...], what: str) -> str:
    matches = [name for name in frame.columns if name in names]
    if len(matches) == 1:
        return str(matches[0])
    if matches:
        raise RequestError(f"{path} has several columns for the {what}: {', '.join(matches)}", "keep one of them")
    if what == "time" and "time" in frame.columns:
        raise RequestError(
            f"{path}: the column time does not say its unit", f"name it one of {', '.join(UNITS_S)}"
        )
    raise RequestError(
        f"{path} has no column for the {what}; it has {', '.join(frame.columns)}", f"a file of times needs {HINT}"
    )


def _positive(text: pd.Series[str], path: Path, first_row: int) -> Array:
    number = np.asarray(pd.to_numeric(text.str.strip(), errors="coerce"), dtype=np.float64)
    _refuse(text, ~np.isfinite(number), path, first_row, "is not a number")
    _refuse(text, number <= 0, path, first_row, "is not positive")
    return number


def _refuse(text: pd.Series[str], bad: NDArray[np.bool_], path: Path, first_row: int, what: str) -> None:
    if bad.any():
        place = int(np.argmax(bad))
        raise RequestError(
            f"{path}, row {int(text.index[place]) + first_row}: {text.name} {text.iloc[place]!r} {what}",
            "correct or remove that row",
        )
