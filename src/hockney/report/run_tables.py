"""Runs of an application in a report: the values common to all programs, as rows of a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hockney.records.app_record import AppRecord
from hockney.report import style
from hockney.report.marks import percent
from hockney.report.tables import Column as Column
from hockney.report.tables import Table
from hockney.report.tables import table as table
from hockney.units import format_interval, format_time

T = TypeVar("T")


@dataclass
class ReportedRun:
    """One run. Its times, in seconds, are of one of the `count` units (sweeps, cycles) of a repetition.

    `problem` is the whole, `of_rank` one rank's share if all shares are equal, `way` the method. `rate` is in the
    unit of the section, `bound_share` a share of the rate that hardware allows, `communication` a share of the
    time of all ranks, whose seconds are in `parts_s`. A value is None if it is not known. ValueError for
    impossible numbers.
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
    parts_s: Mapping[str, float] = field(default_factory=dict)
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

    A method common to all runs is in the caption.
    """
    records = [run.record for run in runs]
    is_one_method = len({run.way for run in runs}) == 1
    columns: list[Column[ReportedRun]] = [
        Column("problem", lambda run: run.problem, is_text=True),
        Column("grid", lambda run: run.grid),
        Column("how", lambda run: "" if is_one_method else run.way),
        *_columns_of(records, lambda run: run.record),
        Column(f"time of {unit}", lambda run: format_time(run.time_s)),
        Column("95 % interval", lambda run: interval(run.low_s, run.high_s)),
        Column("repetitions", lambda run: str(len(run.record.samples_s) or "")),
        Column(rate, lambda run: "" if run.rate is None else style.plain(float(f"{run.rate:.4g}"))),
        Column("of the bound", lambda run: _share(run.bound_share)),
        Column("communication", lambda run: _share(run.communication)),
        Column(" + ".join(runs[0].parts_s), lambda run: _shares(run.parts_s.values())),
        Column("predicted", lambda run: "" if run.predicted_s is None else format_time(run.predicted_s)),
        Column("error", lambda run: "" if run.error is None else percent(run.error, sign=True)),
    ]
    common = f": {runs[0].way}" if is_one_method and runs[0].way else ""
    return table(f"Runs ({len(runs)}){common}", runs, columns)


def plain(records: Sequence[AppRecord]) -> Table:
    """The values that every record has, whatever its program."""
    columns: list[Column[AppRecord]] = [
        Column("application", lambda record: record.operation, is_text=True),
        *_columns_of(records, lambda record: record),
        Column("time", lambda record: format_time(record.time_s)),
        Column(
            "asked for",
            lambda record: " ".join(f"{key}={value}" for key, value in record.parameters.items()),
            is_text=True,
        ),
    ]
    return table("Runs", records, columns)


def _columns_of(records: Sequence[AppRecord], record_of: Callable[[T], AppRecord]) -> list[Column[T]]:
    """Where the runs were; of variant and library only what tells them apart."""
    variants, libraries = ({getattr(record, name) for record in records} for name in ("variant", "mpi"))
    has_variants = len(variants) > 1 or bool(variants - {"default", ""})
    return [
        Column("ranks", lambda row: str(record_of(row).ranks)),
        Column("mapping", lambda row: record_of(row).mapping),
        Column("variant", lambda row: record_of(row).variant if has_variants else "", is_text=True),
        Column("MPI", lambda row: record_of(row).mpi if len(libraries) > 1 else "", is_text=True),
    ]


def interval(low_s: float | None, high_s: float | None) -> str:
    """An interval of times; empty where it is not known, or has no width, as of equal times of a simulation."""
    return "" if low_s is None or high_s is None or low_s == high_s else format_interval(low_s, high_s)


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def _shares(parts_s: Collection[float]) -> str:
    """`90 % + 2 % + 8 %`."""
    total_s = sum(parts_s)
    return " + ".join(_share(part_s / total_s) for part_s in parts_s) if total_s else ""
