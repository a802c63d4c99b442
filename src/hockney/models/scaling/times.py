"""Times of one program on several numbers of processes, from a CSV or Parquet file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.records.columns import POINT, SCALE
from hockney.records.folder import Campaign
from hockney.records.statistic import RATES
from hockney.records.table import text_rows
from hockney.units import LONGEST_S, counted

Array = NDArray[np.float64]

PROCESSES = ("ranks", "processes")
UNITS_S = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6, "time_ns": 1e-9}
MOST_PROCESSES = 2**31 - 1
SHORTEST_S = 1e-12
SAME = tuple(name for name in POINT if name not in (*SCALE, "pair"))
"""Columns of the tidy table that say what was timed: one curve has one value in each."""
OF_RUNS = ("problem", "grid", "way")
"""Columns of the CSV that `hockney report --csv` writes of applications."""
PLACED = ("mapping", "variant")
"""Columns that mean little for one process."""
HINT = (
    f"a folder of `hockney run`, or a file with a column {' or '.join(PROCESSES)} and one of "
    f"{', '.join(UNITS_S)}, a row for each measured time"
)


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


@dataclass(frozen=True)
class Curve:
    """Times of one program, problem and way. `name`: the words in which it differs from the file's others.

    `notes` say what of it was left out.
    """

    name: str
    times: Times
    notes: list[str]


def curves(path: Path, *, is_weak: bool = False) -> list[Curve]:
    """The curves of a `.csv`, `.csv.gz` or `.parquet` file, or of a folder of `hockney run`.

    A curve has one value in each column that says what was timed; with strong scaling one problem, with weak
    (`is_weak`) one problem of each process. Of several process grids on a number of processes the fastest counts.
    The unit of a time is in its column's name. RequestError for missing or doubled columns, for what is no
    positive number (with its row), and where no curve has several numbers of processes.
    """
    frame, first_row = _of_folder(path) if path.is_dir() else text_rows(path, f"give {HINT}")
    frame.columns = frame.columns.astype(str).str.strip()
    processes = _only(frame, path, PROCESSES, "number of processes")
    time = _only(frame, path, tuple(UNITS_S), "time")
    if frame.empty:
        raise RequestError(f"{path} has no rows", f"give {HINT}")
    if "statistic" in frame.columns:
        rates = [value for value in frame["statistic"].str.strip().unique() if value in RATES]
        if rates:
            raise RequestError(f"{path}: {rates[0]} is no time", "keep the rows of one statistic that is a time")
    count = _positive(frame[processes], path, first_row)
    _refuse(frame[processes], count != count.round(), path, first_row, "is not a whole number of processes")
    _refuse(frame[processes], count > MOST_PROCESSES, path, first_row, "is more than MPI can count")
    time_s = _positive(frame[time], path, first_row) * UNITS_S[time]
    unlikely = (time_s < SHORTEST_S) | (time_s > LONGEST_S)
    _refuse(frame[time], unlikely, path, first_row, "is no time that can be measured")
    words = pd.DataFrame(
        {name: frame[name].str.strip() for name in (*SAME, *OF_RUNS) if name in frame.columns}, index=frame.index
    )
    if "problem" in words and is_weak:
        words["problem"] = [
            _share(problem, grid)
            for problem, grid in zip(words["problem"], words.get("grid", words["problem"]), strict=True)
        ]
    apart = [str(name) for name in words if name != "grid"]
    grids = words["grid"] if "grid" in words else pd.Series("", index=words.index)
    groups = _groups(words, apart)
    differing = [name for name in apart if len(set(words[name])) > 1]
    found, single = [], 0
    alone = [rows for rows in groups if np.unique(count[rows]).tolist() == [1]]
    for rows in groups:
        borrowed = [] if 1 in count[rows] else _of_one(words, apart, rows, alone)
        if len(groups) > 1 and np.unique(count[[*rows, *borrowed]]).size < 2:
            single += int(count[rows[0]] > 1)
            continue
        name = ", ".join(str(words[column].iloc[rows[0]]) for column in differing)
        every = np.array([*rows, *borrowed])
        found.append(_curve(name, count[every], time_s[every], grids.to_numpy()[every]))
        if borrowed:
            found[-1].notes.append("the time of one process is that of another mapping or variant")
    if not found:
        apart_by = ", ".join(differing)
        raise RequestError(
            f"{path}: of {counted(len(groups), 'curve')} ({apart_by} differ) each is of one number of processes",
            "keep runs of one problem, or say --weak where the work grew with the processes",
        )
    if single:
        found[-1].notes.append(f"{counted(single, 'curve')} of a single number of processes left out")
    return found


def _groups(words: pd.DataFrame, apart: list[str]) -> list[list[int]]:
    """The rows that are alike in these columns, in the order of their first."""
    if not apart:
        return [list(range(len(words)))]
    indices = words.groupby(apart, sort=False).indices.values()
    return sorted((np.asarray(rows, dtype=np.int64).tolist() for rows in indices), key=min)


def _of_one(words: pd.DataFrame, apart: list[str], rows: list[int], alone: list[list[int]]) -> list[int]:
    """The rows of one process that differ from these in mapping and variant alone: one rank has neither."""
    same = [name for name in apart if name not in PLACED]
    mine = words[same].iloc[rows[0]]
    fitting = [of_one for of_one in alone if (words[same].iloc[of_one[0]] == mine).all()]
    return fitting[0] if len(fitting) == 1 else []


def _curve(name: str, count: Array, time_s: Array, grids: NDArray[np.object_]) -> Curve:
    """Of several process grids on a number of processes, the one with the least median time."""
    kept = np.ones(count.size, dtype=np.bool_)
    for ranks in np.unique(count):
        here = count == ranks
        medians = {grid: np.median(time_s[here & (grids == grid)]) for grid in np.unique(grids[here])}
        kept &= ~here | (grids == min(medians, key=lambda grid: medians[grid]))
    slower = len({(ranks, grid) for ranks, grid in zip(count[~kept], grids[~kept], strict=True)})
    notes = [f"{slower} slower process grids are left out"] if slower else []
    return Curve(name, Times(count[kept], time_s[kept]), notes)


def _share(problem: str, grid: str) -> str:
    """One process's part of a problem 100x100x200 on a grid 1x1x2; with unequal parts, what the problem is."""
    try:
        sides = [divmod(int(n), int(p)) for n, p in zip(problem.split("x"), grid.split("x"), strict=True)]
    except (ValueError, ZeroDivisionError):
        return problem
    return problem if any(rest for _, rest in sides) else "x".join(str(whole) for whole, _ in sides) + " each"


def _of_folder(path: Path) -> tuple[pd.DataFrame, int]:
    """The runs of a folder as rows of text, as `hockney report --csv` writes them; wrong results are left out."""
    runs = [run for run in Campaign.open(path).apps() if run.answer.verified is not False]
    return pd.DataFrame([_row(run) for run in runs], columns=list(_COLUMNS), dtype=str), 1


_COLUMNS = ("operation", "system", "mpi", "mapping", "variant", "problem", "grid", "way", "ranks", "time_s")


def _row(run: AppRecord) -> dict[str, str]:
    asked = run.parameters
    along = {letter: [str(asked.get(f"{letter}{axis}", "")) for axis in "xyz"] for letter in "np"}
    words = [str(value) for value in asked.values() if isinstance(value, str) and value]
    words += [f"{asked['iterations']} iterations"] if asked.get("iterations") else []
    return {
        "operation": run.operation,
        **{name: getattr(run, name) for name in ("system", "mpi", "mapping", "variant")},
        "problem": "x".join(filter(None, along["n"])),
        "grid": "x".join(filter(None, along["p"])),
        "way": ", ".join(words),
        "ranks": str(run.ranks),
        "time_s": repr(run.time_s),
    }


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
