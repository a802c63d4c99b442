"""Jacobi: time of a sweep, updates per second, the bandwidth that bounds them, scaling beside the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.app import APP
from hockney.apps.jacobi.links import Links, links_of, locality_of
from hockney.apps.jacobi.printed import PrintedPrediction, WeakScalingCase, predict_formula
from hockney.apps.stencil.runs import reported_run, simulated_s
from hockney.apps.stencil.scaling import MeasuredGrid, ScalingTable, add_scaling, scaling_tables
from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import Contribution, Runs, is_readable
from hockney.report.run_tables import Column, ReportedRun, table
from hockney.report.tables import Table
from hockney.units import percent

ABOUT_TABLES = (
    "P: 10⁶ lattice updates per second, N·P₁/P: what N ranks lose, 1 is nothing. The formula is T_c = c/B + k·λ "
    "with c = 16·k·L² B beside the time T_s that one rank takes for its cube of L³ cells."
)


def reported(record: AppRecord) -> ReportedRun:
    """A sweep."""
    asked, answer = record.parameters, record.answer.read_as(JacobiAnswer)
    return reported_run(
        record,
        f"{asked['halo']}, {asked['faces']}",
        {"compute": answer.compute_s, "pack": answer.pack_s, "MPI": answer.wait_s},
        rate=answer.mlups,
        bound_share=answer.fraction_of_bound,
    )


def section(runs: Runs) -> Contribution:
    """The runs, and P against ranks and grids beside the formula where there are several."""
    contribution = runs_section.section(APP, runs, reported, simulated_s)
    page = contribution.sections[0]
    tables = scaling_tables([record for record in runs.records if is_readable(record, JacobiAnswer)])
    compared = [compare(each, links_of_machine(runs)) for each in tables]
    page.tables += [beside.shown() for beside in compared]
    sources = dict.fromkeys(row.links.words for beside in compared for row in beside.rows if row.links)
    notes = [ABOUT_TABLES if compared else "", f"Used: {'; '.join(sources)}." if sources else ""]
    notes += [
        f"Without the formula: {why}." for why in dict.fromkeys(why for it in compared for why in it.lacking)
    ]
    page.note = " ".join(filter(None, [page.note, *notes]))
    add_scaling(APP, tables, runs, contribution)
    return contribution


LinksOf = Callable[[MeasuredGrid], Links]
"""λ and B of a run; RequestError where nothing says them."""


def links_of_machine(runs: Runs) -> LinksOf:
    """Those of the machine file."""
    basis = runs.basis

    def links(run: MeasuredGrid) -> Links:
        if basis is None:
            raise RequestError("there is no machine file", "")
        if why := basis.refused(run.record):
            raise RequestError(why, "")
        machine = basis.of(run.record)
        return links_of(machine, locality_of(machine, basis.placement(run.record), run.grid))

    return links


def side_of(table: ScalingTable) -> int | None:
    """L, where each rank has a cube."""
    return table.cells.x if table.is_weak and len(set(table.cells)) == 1 else None


@dataclass(frozen=True)
class ComparedGrid:
    """A run beside the formula, where that says something of it."""

    run: MeasuredGrid
    predicted: PrintedPrediction | None
    links: Links | None

    @property
    def error(self) -> float | None:
        """Of P by the formula, relative to the measured one."""
        return None if self.predicted is None else self.predicted.mlups / self.run.mlups.value - 1


@dataclass(frozen=True)
class Compared:
    """A table beside the formula. `lacking`: why the formula says nothing of some runs."""

    table: ScalingTable
    rows: list[ComparedGrid]
    lacking: list[str]

    @property
    def errors(self) -> tuple[list[float], list[float]]:
        """|error| of P by the formula, and of the baseline N P₁, where ranks lose nothing."""
        ratios = (row.run.ratio for row in self.rows)
        return (
            [abs(row.error) for row in self.rows if row.error is not None],
            [abs(ratio.value - 1) for ratio in ratios if ratio is not None],
        )

    def shown(self) -> Table:
        """A row for each run, the formula beside what was measured."""
        is_weak, alone = self.table.is_weak, self.table.alone
        what = "weak scaling, each rank's box" if is_weak else "strong scaling, the whole box"
        first = "" if alone is None else f"; P₁ = {alone.mlups.value:.5g} MLUP/s"
        formula, ideal = (
            f"median {percent(median(errors))}, largest {percent(max(errors))}" if errors else ""
            for errors in self.errors
        )
        judged = f"; |error| of P: formula {formula}; N·P₁ {ideal}" if formula else ""
        return table(f"{what} {self.table.name}{first}{judged}", self.rows, COLUMNS)


def _bounds(parameter: Parameter | None) -> str:
    return "" if parameter is None else parameter.bounds(".4g", "").strip(" ()")


COLUMNS: list[Column[ComparedGrid]] = [
    Column("N", lambda row: str(row.run.grid.ranks)),
    Column("grid", lambda row: str(row.run.grid), is_text=True),
    Column("k", lambda row: str(row.predicted.k) if row.predicted else ""),
    Column("c", lambda row: f"{row.predicted.halo_B / 1e6:.4g} MB" if row.predicted else ""),
    Column("P, formula", lambda row: f"{row.predicted.mlups:.3f}" if row.predicted else ""),
    Column("N·P₁/P, formula", lambda row: f"{row.predicted.ratio:.3f}" if row.predicted else ""),
    Column("P, measured", lambda row: f"{row.run.mlups.value:.3f}"),
    Column("95 % interval of P", lambda row: _bounds(row.run.mlups)),
    Column("N·P₁/P, measured", lambda row: f"{row.run.ratio.value:.3f}" if row.run.ratio else ""),
    Column("95 % interval", lambda row: _bounds(row.run.ratio)),
    Column("error of the formula", lambda row: "" if row.error is None else percent(row.error, sign=True)),
]


def compare(table: ScalingTable, links_of_run: LinksOf) -> Compared:
    """The runs of a table beside P by the formula, where each rank has a cube and one rank was measured."""
    rows: list[ComparedGrid] = []
    lacking: list[str] = []
    side = side_of(table)
    for run in table.runs:
        predicted = links = None
        if side is not None and table.alone is not None:
            serial_s = side**3 / (1e6 * table.alone.mlups.value)
            try:
                links = links_of_run(run)
                rates = links.latency_s.value, links.bandwidth_B_per_s.value
                predicted = predict_formula(WeakScalingCase(side, serial_s, *rates), run.grid)
            except RequestError as refused:
                lacking.append(refused.message)
        rows.append(ComparedGrid(run, predicted, links))
    return Compared(table, rows, list(dict.fromkeys(lacking)))
