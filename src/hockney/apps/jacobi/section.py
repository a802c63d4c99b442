"""Jacobi: time of a sweep, lattice updates per second, and the bandwidth that bounds them."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.compared import Compared, compare
from hockney.apps.jacobi.figure import rates
from hockney.apps.jacobi.findings import findings, kind
from hockney.apps.jacobi.links import Links, MachineLinks
from hockney.apps.jacobi.printed import jacobi_models
from hockney.apps.jacobi.scaling import MeasuredGrid, scaling_tables, stated_links
from hockney.apps.stencil.runs import ABOUT_PREDICTION, of_rank, sides, simulated_s
from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun, signed_percent
from hockney.report.run_tables import table as run_table
from hockney.report.runs_section import Program, section
from hockney.report.scaling import laws_of
from hockney.report.tables import Table
from hockney.units import format_rate, format_time


class Jacobi(Program):
    """A sweep is one exchange of halos and one update of every cell."""

    name = "jacobi"
    title = "Jacobi"
    meaning = "A 7-point Jacobi solver in three dimensions; a sweep exchanges halos and updates every cell once."
    unit = "a sweep"
    rate = "MLUP/s"
    about = (
        "MLUP/s: 10⁶ lattice updates per second of all ranks. Communication: MPI and packing, of the time of all "
        "ranks."
    )
    about_bound = "The bound: memory bandwidth, measured in turns with the sweeps, over the bytes of an update."
    about_prediction = ABOUT_PREDICTION

    def reported(self, record: AppRecord) -> ReportedRun:
        """A sweep."""
        parameters, answer = record.parameters, record.answer.read_as(JacobiAnswer)
        parts_s = [sum(of_ranks_s) for of_ranks_s in (answer.compute_s, answer.pack_s, answer.wait_s)]
        return ReportedRun(
            record,
            problem=sides(record, "n"),
            count=int(parameters["iterations"]),
            of_rank=of_rank(record),
            grid=sides(record, "p"),
            way=f"{parameters['halo']}, {parameters['faces']}",
            rate=answer.mlups,
            bound_share=answer.fraction_of_bound,
            communication=sum(parts_s[1:]) / sum(parts_s) if sum(parts_s) else None,
        )

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """The mean of the sweeps of a repetition."""
        return simulated_s(record, basis)


MODEL = "weak_scaling_jacobi"
"""The formula that the page sets beside weak scaling."""


@app_sections.register("jacobi")
def jacobi(runs: Runs) -> Contribution:
    """Its section: the runs, and P against ranks and grids beside the formula where there are several."""
    contribution = section(Jacobi(), runs)
    page = contribution.sections[0]
    compared, timed = tables_beside(runs), contribution.timed
    if compared:
        # In the order of their runs, as in the figure of times: a problem has one colour on the page.
        page.figures.append(rates(sorted((one.table for one in compared), key=lambda one: one.first_of(timed))))
        page.tables += [_table(one) for one in compared]
        page.note = " ".join([page.note, ABOUT_TABLES, *_origins(compared)])
        contribution.findings += findings(compared, runs.basis.launches if runs.basis else {})
        studies = {kind(one.table): made for one in compared if (made := one.table.study()) is not None}
        laws = laws_of(studies, page.id)
        page.figures += laws.figures
        page.tables += laws.tables
        page.note = " ".join(filter(None, [page.note, laws.note]))
        contribution.findings += laws.findings
    return contribution


ABOUT_TABLES = (
    "P: 10⁶ lattice updates per second, N·P₁/P: what N ranks lose, 1 is nothing. The formula is T_c = c/B + k·λ "
    "with c = 16·k·L² B beside the time T_s that one rank takes for its cube of L³ cells."
)


def tables_beside(runs: Runs) -> list[Compared]:
    """The tables of scaling beside the formula, with the λ and B that a table states or the machine file has."""
    basis = runs.basis
    links = None if basis is None else MachineLinks(basis.machine)

    def links_of(run: MeasuredGrid) -> Links:
        if (stated := stated_links(run.record)) is not None:
            return stated
        if basis is None or links is None:
            raise RequestError("there is no machine file", "")
        if why := basis.refused(run.record):
            raise RequestError(why, "")
        return links(run.grid, basis.placement(run.record))

    return [compare(table, jacobi_models.get(MODEL), links_of) for table in scaling_tables(runs.records)]


def _table(compared: Compared) -> Table:
    table = compared.table
    kind = "weak scaling, each rank's box" if table.is_weak else "strong scaling, the whole box"
    first = "" if table.alone is None else f"; P₁ = {table.alone.mlups.value:.5g} MLUP/s"
    return run_table(
        f"{kind} {table.name}{first}",
        {
            "N": [str(row.run.grid.ranks) for row in compared.rows],
            "grid": [str(row.run.grid) for row in compared.rows],
            "k": [str(row.predicted.k) if row.predicted else "" for row in compared.rows],
            "c": [f"{row.predicted.halo_B / 1e6:.4g} MB" if row.predicted else "" for row in compared.rows],
            "P, formula": [f"{row.predicted.mlups:.3f}" if row.predicted else "" for row in compared.rows],
            "N·P₁/P, formula": [
                f"{1 / row.predicted.efficiency:.3f}" if row.predicted else "" for row in compared.rows
            ],
            "P, measured": [f"{row.run.mlups.value:.3f}" for row in compared.rows],
            "95 % interval of P": [_interval(row.run.mlups) for row in compared.rows],
            "N·P₁/P, measured": [f"{row.run.ratio.value:.3f}" if row.run.ratio else "" for row in compared.rows],
            "95 % interval": [_interval(row.run.ratio) if row.run.ratio else "" for row in compared.rows],
            "error of the formula": [
                "" if row.error is None else signed_percent(row.error) for row in compared.rows
            ],
        },
        {"grid"},
    )


def _interval(parameter: Parameter) -> str:
    low, high = parameter.low, parameter.high
    return "" if low is None or high is None else f"{low:.4g} to {high:.4g}"


def _origins(compared: Sequence[Compared]) -> list[str]:
    """λ and B by their sources, and why there is no formula beside some runs."""
    sources = {
        f"λ = {format_time(of.latency_s.value)}, B = {format_rate(of.bandwidth_B_per_s.value)}: {of.origin}": None
        for one in compared
        for of in one.links
    }
    lacking = {why: None for one in compared for why in one.lacking}
    return [
        *([f"Used: {'; '.join(sources)}."] if sources else []),
        *(f"Without the formula: {why}." for why in lacking),
    ]
