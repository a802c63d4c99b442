"""Jacobi's scaling as the formula sees it: P against the number of ranks N and the grid, measured beside it.

P is 10⁶ lattice updates per second of all ranks. N P₁/P is what N ranks lose: 1 where each is as fast as one
alone, and one over the efficiency otherwise, with strong scaling as with weak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Annotated

import numpy as np
from pydantic import Field

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.printed import NO_MESSAGES, HaloModel, Links, PrintedPrediction, WeakScalingCase, predict
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.measured import stencil_of
from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.scaling.study import ScalingStudy, study
from hockney.models.scaling.times import Times
from hockney.records.app_record import AppRecord
from hockney.report.run_tables import Column, signed_percent, table
from hockney.report.tables import Table
from hockney.units import Extents


@dataclass(frozen=True)
class MeasuredGrid:
    """One run: P and N P₁/P (None without a run on one rank), each with its interval where there is one."""

    record: AppRecord
    grid: Grid
    mlups: Parameter
    ratio: Parameter | None


@dataclass(frozen=True)
class ScalingTable:
    """Runs that differ in ranks and grid alone. `cells` of one rank with weak scaling, of the whole with strong.

    `alone`: the run on one rank that P₁ is of; `runs` in the order of ranks, without that one.
    """

    name: str
    is_weak: bool
    cells: Extents
    alone: MeasuredGrid | None
    runs: list[MeasuredGrid] = field(default_factory=list)

    @property
    def side(self) -> int | None:
        """L, where each rank has a cube."""
        return self.cells.x if self.is_weak and len(set(self.cells)) == 1 else None

    def first_of(self, records: Sequence[AppRecord]) -> int:
        """The index of the first of these runs that has this table's size; their number where none has."""
        sizes = (_size(record, is_weak=self.is_weak) for record in records)
        return next((number for number, size in enumerate(sizes) if size == self.cells), len(records))

    def fastest(self) -> list[MeasuredGrid]:
        """The run with the highest P on each number of ranks, one rank first."""
        best: dict[int, MeasuredGrid] = {} if self.alone is None else {1: self.alone}
        for run in self.runs:
            ranks = run.grid.ranks
            if ranks not in best or run.mlups.value > best[ranks].mlups.value:
                best[ranks] = run
        return [best[ranks] for ranks in sorted(best)]

    def study(self) -> ScalingStudy | None:
        """Laws of scaling and the break of the fastest grids; None with too few, or without a run on one rank.

        The time is that of a sweep.
        """
        runs = self.fastest()
        counts = np.array([run.grid.ranks for run in runs], dtype=np.float64)
        cells = np.array([math.prod(stencil_of(run.record).cells) for run in runs], dtype=np.float64)
        rates = np.array([1e6 * run.mlups.value for run in runs])
        try:
            return study(Times(counts, cells / rates), is_weak=self.is_weak)
        except RequestError:
            return None

    def case(self, links: Links) -> WeakScalingCase | None:
        """What the formula starts from; None without a cube, or without a run on one rank."""
        if self.side is None or self.alone is None:
            return None
        serial_s = self.side**3 / (1e6 * self.alone.mlups.value)
        return WeakScalingCase(self.side, serial_s, links.latency_s.value, links.bandwidth_B_per_s.value)

    def predicted(self, model: HaloModel, run: MeasuredGrid, links: Links) -> PrintedPrediction | None:
        """P of a run by the formula; None where it says nothing of it."""
        case = self.case(links)
        return None if case is None else replace(predict(model, case, run.grid), links=links)


def rate_of(record: AppRecord) -> Parameter:
    """P with the interval of the run's time."""
    cells = math.prod(stencil_of(record).cells) * float(record.parameters["iterations"]) / 1e6
    low_s, high_s = record.low_s, record.high_s
    return Parameter(
        value=cells / record.time_s,
        low=cells / high_s if high_s else None,
        high=cells / low_s if low_s else None,
        unit="MLUP/s",
    )


def stated_links(record: AppRecord) -> Links | None:
    """λ and B that the source of an imported run states beside it."""
    said = record.answer.read_as(JacobiAnswer)
    latency_s, bandwidth_B_per_s = said.stated_latency_s, said.stated_bandwidth_B_per_s
    if latency_s is None or bandwidth_B_per_s is None:
        return None
    return Links.given(latency_s, bandwidth_B_per_s, "what the table states")


def _words(record: AppRecord) -> tuple[str, ...]:
    asked = record.parameters
    way = ", ".join(filter(None, (str(asked["halo"]), str(asked["faces"]))))
    return record.system, record.mpi, record.mapping, "" if record.variant == "default" else record.variant, way


def scaling_tables(records: Sequence[AppRecord]) -> list[ScalingTable]:
    """Weak tables, then strong ones, of runs on several numbers of ranks; wrong results are left out.

    A run whose ranks have unequal boxes is in no weak table.
    """
    right = [record for record in records if record.operation == "jacobi" and _can_be_compared(record)]
    tables = [*_tables(right, is_weak=True), *_tables(right, is_weak=False)]
    return [table for table in tables if len({run.grid.ranks for run in [*table.runs, *_known(table.alone)]}) > 1]


def _can_be_compared(record: AppRecord) -> bool:
    """Whether a run says what it computed, and how fast; not one of another version, or without computing."""
    asked = record.parameters
    try:
        cells = stencil_of(record).ranks == record.ranks and float(asked["iterations"]) > 0
        _words(record)
        record.answer.read_as(JacobiAnswer)
    except (KeyError, TypeError, ValueError, RequestError):
        return False
    return cells and record.answer.verified is not False and record.time_s > 0


def _known(run: MeasuredGrid | None) -> list[MeasuredGrid]:
    return [] if run is None else [run]


def _tables(records: Sequence[AppRecord], *, is_weak: bool) -> list[ScalingTable]:
    groups: dict[tuple[Extents, tuple[str, ...]], list[AppRecord]] = {}
    ones: dict[Extents, list[AppRecord]] = {}
    for record in records:
        size = _size(record, is_weak=is_weak)
        if size is None:
            continue
        if record.ranks == 1:
            ones.setdefault(size, []).append(record)
        else:
            groups.setdefault((size, _words(record)), []).append(record)
    names = _names(list(groups))
    made = []
    for (size, words), group in groups.items():
        first = _alone(ones.get(size, []), words)
        alone = (
            None
            if first is None
            else MeasuredGrid(first, Grid(1, 1, 1), rate_of(first), Parameter(value=1.0, unit="1"))
        )
        runs = [
            MeasuredGrid(record, stencil_of(record).grid, rate_of(record), _ratio(record, alone))
            for record in sorted(group, key=lambda record: record.ranks)
        ]
        made.append(ScalingTable(names[size, words], is_weak, size, alone, runs))
    return made


def _size(record: AppRecord, *, is_weak: bool) -> Extents | None:
    stencil = stencil_of(record)
    if not is_weak:
        return Extents(*stencil.cells)
    each = [divmod(n, p) for n, p in zip(stencil.cells, stencil.grid, strict=True)]
    return None if any(rest for _, rest in each) else Extents(*(whole for whole, _ in each))


def _alone(ones: Sequence[AppRecord], words: tuple[str, ...]) -> AppRecord | None:
    """The run on one rank that is most alike: of the same system, else none; of equals the one in the middle."""
    of_system = [record for record in ones if record.system == words[0]]
    if not of_system:
        return None

    def alike(record: AppRecord) -> int:
        return sum(a == b for a, b in zip(_words(record), words, strict=True))

    most = max(map(alike, of_system))
    best = sorted((record for record in of_system if alike(record) == most), key=lambda record: record.time_s)
    return best[(len(best) - 1) // 2]


def _ratio(record: AppRecord, alone: MeasuredGrid | None) -> Parameter | None:
    """N P₁/P; both intervals on a logarithmic scale, as independent."""
    if alone is None:
        return None
    first, here = alone.mlups, rate_of(record)
    value = record.ranks * first.value / here.value
    if first.low is None or first.high is None or here.low is None or here.high is None:
        return Parameter(value=value, unit="1")
    below = math.hypot(math.log(first.value / first.low), math.log(here.high / here.value))
    above = math.hypot(math.log(first.high / first.value), math.log(here.value / here.low))
    return Parameter(value=value, low=value * math.exp(-below), high=value * math.exp(above), unit="1")


def _names(keys: Sequence[tuple[Extents, tuple[str, ...]]]) -> dict[tuple[Extents, tuple[str, ...]], str]:
    """A name for each table: the words in which it differs from the others, and its size."""
    differing = [len({words[place] for _, words in keys}) > 1 for place in range(len(keys[0][1]))] if keys else []
    return {
        (size, words): ", ".join(
            [str(size), *(word for word, tells in zip(words, differing, strict=True) if tells and word)]
        )
        for size, words in keys
    }


# Beside the formula

LinksOf = Callable[[MeasuredGrid], Links]
"""λ and B of a run; RequestError where nothing says them."""


@dataclass(frozen=True)
class ComparedGrid:
    """P of a run and N P₁/P, beside the formula; `error` of its P, relative to the measured one."""

    ranks: int
    grid: str
    measured_mlups: Parameter
    measured_ratio: Parameter | None
    predicted: PrintedPrediction | None
    error: float | None


@dataclass(frozen=True)
class FormulaErrors:
    """Median and largest |error| of P: by the formula, and by the baseline N P₁, where ranks lose nothing."""

    formula_median: float | None
    formula_largest: float | None
    ideal_median: float | None
    ideal_largest: float | None


@dataclass(frozen=True)
class Compared:
    """A table beside the formula. `lacking`: why the formula says nothing of some runs. P in 10⁶ updates/s."""

    name: str
    scaling: str
    subdomain: int | None
    one_rank_mlups: Parameter | None
    rows: list[ComparedGrid]
    errors: FormulaErrors
    lacking: list[str]
    table: Annotated[ScalingTable, Field(exclude=True)]

    @property
    def links(self) -> list[str]:
        """The different λ and B behind the rows, in words."""
        links = [row.predicted.links for row in self.rows if row.predicted is not None]
        return list(dict.fromkeys(link.words for link in links if link is not None and link is not NO_MESSAGES))

    def shown(self, caption: str) -> Table:
        """A row for each run, the formula beside what was measured."""
        return table(caption, self.rows, COLUMNS)


COLUMNS: list[Column[ComparedGrid]] = [
    Column("N", lambda row: str(row.ranks)),
    Column("grid", lambda row: row.grid, is_text=True),
    Column("k", lambda row: str(row.predicted.k) if row.predicted else ""),
    Column("c", lambda row: f"{row.predicted.halo_B / 1e6:.4g} MB" if row.predicted else ""),
    Column("P, formula", lambda row: f"{row.predicted.mlups:.3f}" if row.predicted else ""),
    Column("N·P₁/P, formula", lambda row: f"{row.predicted.ratio:.3f}" if row.predicted else ""),
    Column("P, measured", lambda row: f"{row.measured_mlups.value:.3f}"),
    Column("95 % interval of P", lambda row: _interval(row.measured_mlups)),
    Column("N·P₁/P, measured", lambda row: f"{row.measured_ratio.value:.3f}" if row.measured_ratio else ""),
    Column("95 % interval", lambda row: _interval(row.measured_ratio)),
    Column("error of the formula", lambda row: "" if row.error is None else signed_percent(row.error)),
]


def _interval(parameter: Parameter | None) -> str:
    if parameter is None or parameter.low is None or parameter.high is None:
        return ""
    return f"{parameter.low:.4g} to {parameter.high:.4g}"


def compare(table: ScalingTable, model: HaloModel, links_of: LinksOf) -> Compared:
    """The runs of a table beside P by the formula."""
    rows: list[ComparedGrid] = []
    lacking: dict[str, None] = {}
    for run in table.runs:
        predicted = error = None
        try:
            if table.side is not None and table.alone is not None:
                predicted = table.predicted(model, run, links_of(run))
        except RequestError as refused:
            lacking[refused.message] = None
        if predicted is not None:
            error = predicted.mlups / run.mlups.value - 1
        rows.append(ComparedGrid(run.grid.ranks, str(run.grid), run.mlups, run.ratio, predicted, error))
    return Compared(
        table.name,
        "weak" if table.is_weak else "strong",
        table.side,
        None if table.alone is None else table.alone.mlups,
        rows,
        _errors(rows),
        list(lacking),
        table,
    )


def _errors(rows: Sequence[ComparedGrid]) -> FormulaErrors:
    formula = [abs(row.error) for row in rows if row.error is not None]
    ideal = [abs(row.measured_ratio.value - 1) for row in rows if row.measured_ratio is not None]
    medians = [median(errors) if errors else None for errors in (formula, ideal)]
    return FormulaErrors(medians[0], max(formula, default=None), medians[1], max(ideal, default=None))
