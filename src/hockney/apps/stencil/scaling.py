"""Scaling of stencil programs: runs that belong in one table, what ranks lose, and what a page says of both.

P is 10⁶ cells updated per second by all ranks. N P₁/P is what N ranks lose: 1 where each is as fast as one alone,
and one over the efficiency otherwise, with strong scaling as with weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.apps.stencil.grid_test import GridTest, configuration, grid_test, judged
from hockney.apps.stencil.grids import Grid, box_of_each, cells_of, grid_of
from hockney.apps.stencil.measured import iterations_of
from hockney.errors import RequestError
from hockney.machine.locality import domains
from hockney.models.base import Parameter
from hockney.models.over_ranks.boundaries import begins, boundaries
from hockney.models.scaling.fit import Break
from hockney.models.scaling.study import ScalingStudy, study
from hockney.models.scaling.times import Times
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Contribution, Runs
from hockney.report.application import App
from hockney.report.findings import Finding, Verdict
from hockney.report.scaling import add_laws
from hockney.units import Extents, counted, grouped, percent

SUPER, GOOD, FAIR = 1.02, 0.8, 0.5
"""Efficiency above which a speed-up is more than ideal; from which it is good, and from which it is fair."""


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
    runs: list[MeasuredGrid]

    @property
    def scaling(self) -> str:
        """`weak` or `strong`."""
        return "weak" if self.is_weak else "strong"

    @property
    def every(self) -> list[MeasuredGrid]:
        """All runs, the one on one rank first."""
        return [*filter(None, [self.alone]), *self.runs]

    def fastest(self) -> list[MeasuredGrid]:
        """The run with the highest P on each number of ranks, in their order."""
        best = {run.grid.ranks: run for run in sorted(self.every, key=lambda run: run.mlups.value)}
        return [best[ranks] for ranks in sorted(best)]

    def study(self) -> ScalingStudy | None:
        """Laws of scaling and the break of the fastest grids; None with too few, or without a run on one rank.

        The time is that of an iteration.
        """
        runs = self.fastest()
        counts = np.array([run.grid.ranks for run in runs], dtype=np.float64)
        iterations_s = [cells_of(run.record).product / (1e6 * run.mlups.value) for run in runs]
        try:
            return study(Times(counts, np.array(iterations_s)), is_weak=self.is_weak)
        except RequestError:
            return None


def rate_of(record: AppRecord) -> Parameter:
    """P with the interval of the run's time; ZeroDivisionError where it took none."""
    updates = cells_of(record).product * iterations_of(record) / 1e6
    time_s = Parameter(value=record.time_s, low=record.low_s, high=record.high_s, unit="s")
    return time_s.inverse.scaled(updates, "MLUP/s")


def _origin(record: AppRecord) -> tuple[str, ...]:
    """What runs of a table have in common, the system first."""
    method = [str(record.parameters.get(name, "")) for name in ("variant", "halo", "faces")]
    launch = "" if record.variant == "default" else record.variant
    return record.system, record.mpi, record.mapping, launch, ", ".join(filter(None, method))


def scaling_tables(records: Sequence[AppRecord]) -> list[ScalingTable]:
    """Weak tables, then strong ones, of a program on several numbers of ranks; wrong results are left out.

    A run whose ranks have unequal boxes is in no weak table.
    """
    right = [record for record in records if _can_be_compared(record)]
    tables = [*_tables(right, is_weak=True), *_tables(right, is_weak=False)]
    return [table for table in tables if len({run.grid.ranks for run in table.every}) > 1]


def _can_be_compared(record: AppRecord) -> bool:
    """Whether a run says what it computed, and how fast; not one of another version, or without computing."""
    try:
        is_whole = grid_of(record).ranks == record.ranks and rate_of(record).value > 0
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return False
    return is_whole and record.answer.verified is not False


def _tables(records: Sequence[AppRecord], *, is_weak: bool) -> list[ScalingTable]:
    groups: dict[tuple[Extents, tuple[str, ...]], list[AppRecord]] = {}
    ones: dict[Extents, list[AppRecord]] = {}
    for record in records:
        if (size := box_of_each(record) if is_weak else cells_of(record)) is None:
            continue
        if record.ranks == 1:
            ones.setdefault(size, []).append(record)
        else:
            groups.setdefault((size, _origin(record)), []).append(record)
    differs = [len({*words}) > 1 for words in zip(*(origin for _, origin in groups), strict=True)]
    tables = []
    for (size, origin), runs in groups.items():
        name = [str(size), *(word for word, tells in zip(origin, differs, strict=True) if tells and word)]
        first = _alone(ones.get(size, []), origin)
        alone = None if first is None else _measured(first, rate_of(first))
        measured = [
            _measured(run, alone.mlups if alone else None) for run in sorted(runs, key=lambda run: run.ranks)
        ]
        tables.append(ScalingTable(", ".join(name), is_weak, size, alone, measured))
    return tables


def _measured(record: AppRecord, of_one: Parameter | None) -> MeasuredGrid:
    """A run beside P₁."""
    rate = rate_of(record)
    ratio = None if of_one is None else of_one.times(rate.inverse).scaled(record.ranks, "1")
    return MeasuredGrid(record, grid_of(record), rate, ratio)


def _alone(ones: Sequence[AppRecord], origin: tuple[str, ...]) -> AppRecord | None:
    """The run on one rank that is most alike: of the same system, else none; of equals the one in the middle."""

    def alike(record: AppRecord) -> int:
        return sum(one == other for one, other in zip(_origin(record), origin, strict=True))

    of_system = [record for record in ones if record.system == origin[0]]
    most = max(map(alike, of_system), default=0)
    best = sorted((record for record in of_system if alike(record) == most), key=lambda record: record.time_s)
    return best[(len(best) - 1) // 2] if best else None


def add_scaling(app: App, tables: Sequence[ScalingTable], runs: Runs, contribution: Contribution) -> None:
    """Add laws, efficiencies, breaks and the choice of a grid to the page of a program."""
    page = contribution.sections[0]
    studies = {f"{app.title}, {table.scaling} scaling ({table.name})": table.study() for table in tables}
    for (name, studied), table in zip(studies.items(), tables, strict=True):
        if studied is not None and studied.broken is not None:
            contribution.findings.append(_of_break(name, table, studied.broken, runs, page.id))
        contribution.findings += _of_efficiency(name, table, page.id)
    tests = [_of_grids(name, table) for name, table in zip(studies, tables, strict=True)]
    contribution.findings += [
        Finding(test.words, page.id, 0.5 if test.significant else 0.3) for test in judged([*filter(None, tests)])
    ]
    add_laws({name: studied for name, studied in studies.items() if studied is not None}, page, contribution)


def _of_grids(name: str, table: ScalingTable) -> GridTest | None:
    """Whether the grid matters on the most ranks of which there are several; None where nothing tells."""
    by_ranks = grouped(table.runs, lambda run: run.grid.ranks)
    for ranks in sorted(by_ranks, reverse=True):
        on_grid = grouped([run.record for run in by_ranks[ranks]], lambda record: str(grid_of(record)))
        if len(on_grid) > 1:
            every = [configuration(grid, "", records) for grid, records in on_grid.items()]
            return grid_test(f"{name}, {counted(ranks, 'rank')}", every)
    return None


def _of_efficiency(name: str, table: ScalingTable, anchor: str) -> list[Finding]:
    """The most ranks beside one."""
    last = table.fastest()[-1]
    if last.ratio is None or table.alone is None:
        return []
    share = last.ratio.inverse
    is_super = (share.low or share.value) > SUPER
    why = ": more than ideal" if is_super else ""
    reach = " (no interval)"
    if share.low is not None and share.high is not None:
        reach = f" (95 %: {percent(share.low)} to {percent(share.high)})"
    text = (
        f"{name}: {counted(last.grid.ranks, 'rank')} on {last.grid} reach {last.mlups.value:.4g} MLUP/s, "
        f"{percent(share.value)}{reach} of {last.grid.ranks} times one rank{why}."
    )
    verdict: Verdict = "good" if share.value >= GOOD else "look" if share.value >= FAIR else "bad"
    return [Finding(text, anchor, 0.8 if is_super else 0.6, verdict=verdict)]


def _of_break(name: str, table: ScalingTable, broken: Break, runs: Runs, anchor: str) -> Finding:
    """Where the time steps, and what begins there by the places of the ranks."""
    places = {run.grid.ranks: runs.place_of(run.record) for run in table.fastest()}
    before, after = places[broken.before], places[broken.after]
    if before is None or after is None:
        why = "not explained: the runs do not say where their ranks were"
    else:
        of_ranks = {broken.before: domains(before), broken.after: domains(after)}
        levels = [boundary.level for boundary in boundaries(of_ranks, of_ranks.__getitem__)]
        why = f"there {begins(levels[0])} begins" if levels else "not explained: nothing is full there"
    text = (
        f"{name}: between {broken.before} and {broken.after} ranks an iteration's time steps by a factor of "
        f"{broken.ratio.value:.3g}{broken.ratio.bounds()}; {why}."
    )
    return Finding(text, anchor, 0.9)
