"""Runs of an application in a report: the values common to all programs, as rows of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hockney.records.app_record import AppRecord
from hockney.report import axes
from hockney.report.marks import percent
from hockney.report.tables import NONE, Table
from hockney.units import format_time

UNBROKEN = "\N{NO-BREAK SPACE}"


@dataclass
class ReportedRun:
    """One run. Its times, in seconds, are of one of the `count` units (sweeps, cycles) of a repetition.

    `problem` is the whole, `of_rank` one rank's share if all shares are equal, `way` the method. `rate` is in the
    unit of the section, `bound_share` a share of the rate that hardware allows, `communication` a share of the
    time of all ranks. A value is None if it is not known. ValueError for impossible numbers.
    """

    record: AppRecord
    problem: str
    count: int = 1
    of_rank: str = ""
    grid: str = ""
    way: str = ""
    rate: float | None = None
    bound_share: float | None = None
    communication: float | None = None
    predicted_s: float | None = None
    series: str = ""

    def __post_init__(self) -> None:
        numbers = (self.rate, self.bound_share, self.communication)
        if self.count < 1 or not all(math.isfinite(number) for number in numbers if number is not None):
            raise ValueError("a run has no sweeps, or a value that is not a finite number")

    @property
    def time_s(self) -> float:
        """The median."""
        return self.record.time_s / self.count

    @property
    def low_s(self) -> float | None:
        """Lower end of its 95 % interval."""
        return None if self.record.low_s is None else self.record.low_s / self.count

    @property
    def high_s(self) -> float | None:
        """Upper end of its 95 % interval."""
        return None if self.record.high_s is None else self.record.high_s / self.count

    @property
    def error(self) -> float | None:
        """Error of the prediction, relative to the measured time."""
        return self.predicted_s / self.time_s - 1 if self.predicted_s is not None and self.time_s else None


def name_series(runs: Sequence[ReportedRun]) -> None:
    """Name the series of each run by the words, other than ranks and grid, in which it differs from the others.

    The name has one rank's share in place of the whole problem if more numbers of ranks have the same share.
    """

    def spread(word: str, run: ReportedRun) -> int:
        alike = {(other.record.ranks, other.way) for other in runs if getattr(other, word) == getattr(run, word)}
        return len(alike)

    words = [
        (
            f"{run.of_rank} each"
            if run.of_rank and spread("of_rank", run) > spread("problem", run)
            else run.problem,
            run.way,
            run.record.mapping,
            run.record.variant,
            run.record.mpi,
            run.record.system,
        )
        for run in runs
    ]
    differing = [index for index, column in enumerate(zip(*words, strict=True)) if len(set(column)) > 1]
    for run, row in zip(runs, words, strict=True):
        run.series = ", ".join(row[index] for index in differing or [0] if row[index]) or "measured"


def runs_table(runs: Sequence[ReportedRun], unit: str, rate: str) -> Table:
    """A row for each run; times are those of one `unit`, and `rate` heads the rates.

    A method common to all runs is in the caption; empty columns are left out.
    """
    records = [run.record for run in runs]
    is_one_way = len({run.way for run in runs}) == 1
    columns = {
        "problem": [run.problem for run in runs],
        "grid": [run.grid for run in runs],
        "ranks": [str(record.ranks) for record in records],
        "mapping": [record.mapping for record in records],
        "how": [] if is_one_way else [run.way for run in runs],
        "variant": _telling([record.variant for record in records], "default"),
        "MPI": _telling([record.mpi for record in records]),
        f"time of {unit}": [_time(run.time_s) for run in runs],
        "95 % interval": [_interval(run) for run in runs],
        "repetitions": [str(len(record.samples_s) or "") for record in records],
        rate: ["" if run.rate is None else axes.plain(float(f"{run.rate:.4g}")) for run in runs],
        "of the bound": [_share(run.bound_share) for run in runs],
        "communication": [_share(run.communication) for run in runs],
        "predicted": ["" if run.predicted_s is None else _time(run.predicted_s) for run in runs],
        "error": ["" if run.error is None else signed_percent(run.error) for run in runs],
    }
    common = f": {runs[0].way}" if is_one_way and runs[0].way else ""
    return table(f"Runs ({len(runs)}){common}", columns, {"problem", "variant", "MPI"})


def plain(records: Sequence[AppRecord]) -> Table:
    """The values that every record has, whatever its program."""
    columns = {
        "application": [record.operation for record in records],
        "ranks": [str(record.ranks) for record in records],
        "mapping": [record.mapping for record in records],
        "variant": _telling([record.variant for record in records], "default"),
        "MPI": _telling([record.mpi for record in records]),
        "time": [format_time(record.time_s) for record in records],
        "asked for": [
            " ".join(f"{key}={value}" for key, value in record.parameters.items()) for record in records
        ],
    }
    return table("Runs", columns, {"application", "variant", "MPI", "asked for"})


def table(caption: str, columns: dict[str, list[str]], text: set[str]) -> Table:
    """A table from its columns, those in `text` set left; empty columns are left out."""
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    rows = [[cell or NONE for cell in row] for row in zip(*kept.values(), strict=True)]
    return Table(caption, list(kept), rows, frozenset(i for i, name in enumerate(kept) if name in text))


def signed_percent(share: float) -> str:
    """0.0731 → `+7.3 %`."""
    return ("−" if share < 0 else "+") + _share(abs(share))


def _telling(words: list[str], usual: str = "") -> list[str]:
    """The words, or empty ones if all are equal or usual."""
    return words if len(set(words)) > 1 or (usual and set(words) - {usual, ""}) else [""] * len(words)


def _share(value: float | None) -> str:
    return "" if value is None else percent(value).replace(" ", UNBROKEN)


def _time(seconds: float) -> str:
    return format_time(seconds).replace(" ", UNBROKEN)


def _interval(run: ReportedRun) -> str:
    if run.low_s is None or run.high_s is None:
        return ""
    low, high = _time(run.low_s), _time(run.high_s)
    # A unit that both share is written once.
    number, unit = low.split(UNBROKEN)
    return f"{number if high.endswith(UNBROKEN + unit) else low} to {high}"
