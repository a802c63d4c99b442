"""Jacobi: time of a sweep, updates per second, the bandwidth that bounds them, scaling beside the formula."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.app import APP, Formula
from hockney.apps.jacobi.links import FormulaLinks
from hockney.apps.jacobi.printed import MODELS, Links
from hockney.apps.jacobi.scaling import Compared, compare, stated_links
from hockney.apps.stencil.runs import reported_run, simulated_s
from hockney.apps.stencil.scaling import MeasuredGrid, ScalingTable, add_scaling, scaling_tables
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import Contribution, Runs, is_readable
from hockney.report.run_tables import ReportedRun

MODEL: Formula = "weak_scaling_jacobi"
"""The formula that the page sets beside weak scaling."""
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
    compared = beside_formula(tables, runs)
    page.tables += [beside.shown() for beside in compared]
    sources = dict.fromkeys(origin for beside in compared for origin in beside.links)
    notes = [ABOUT_TABLES if compared else "", f"Used: {'; '.join(sources)}." if sources else ""]
    notes += [
        f"Without the formula: {why}." for why in dict.fromkeys(why for it in compared for why in it.lacking)
    ]
    page.note = " ".join(filter(None, [page.note, *notes]))
    add_scaling(APP, tables, runs, contribution)
    return contribution


def beside_formula(tables: Sequence[ScalingTable], runs: Runs) -> list[Compared]:
    """The tables beside the formula, with the λ and B that a table states or the machine file has."""
    basis = runs.basis
    links: dict[tuple[str, str, str], FormulaLinks] = {}

    def links_of(run: MeasuredGrid) -> Links:
        if (stated := stated_links(run.record)) is not None:
            return stated
        if basis is None:
            raise RequestError("there is no machine file", "")
        if why := basis.refused(run.record):
            raise RequestError(why, "")
        launched = (run.record.mpi, run.record.variant, run.record.mapping)
        if launched not in links:
            links[launched] = FormulaLinks(basis.of(run.record))
        return links[launched](run.grid, basis.placement(run.record))

    return [compare(table, MODELS[MODEL], links_of) for table in tables]
