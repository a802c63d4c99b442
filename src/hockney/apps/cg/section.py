"""Conjugate gradients: time of an iteration, the bandwidth that bounds it, and whole solutions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.app import APP
from hockney.apps.cg.figure import over_sizes
from hockney.apps.cg.iterations import laws
from hockney.apps.cg.solved import SOLUTIONS, solved_runs
from hockney.apps.stencil.grids import cells_of
from hockney.apps.stencil.options import VARIANTS
from hockney.apps.stencil.runs import reported_run, simulated_s
from hockney.apps.stencil.scaling import add_scaling, scaling_tables
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import Contribution, Runs, page_id
from hockney.report.findings import Finding
from hockney.report.run_tables import ReportedRun, table
from hockney.units import counted, format_rate, format_size, format_time

ANCHOR = page_id("cg")
ABOUT_SOLUTIONS = (
    "Residuum is r·r at the end. Speed-up and efficiency are over the fewest ranks of the same size and "
    "formulation; above 1, caches hold more of a rank's vectors. Writing is one MPI_File_write_all with "
    "MPI_File_sync."
)


def reported(record: AppRecord) -> ReportedRun:
    """An iteration."""
    asked, answer = record.parameters, record.answer.read_as(CgAnswer)
    return reported_run(
        record,
        f"{asked['variant']}, {asked['halo']}, {asked['faces']}",
        {"compute": answer.compute_s, "halo": answer.halo_s, "sums": answer.allreduce_s},
        rate=answer.iterations / record.time_s if record.time_s else None,
        bound_share=median(answer.fractions_of_bound) if answer.fractions_of_bound else None,
    )


def section(runs: Runs) -> Contribution:
    """Iterations, then whole solutions with their residuals and speed-ups, and figures over size."""
    contribution = runs_section.section(APP, runs, reported, simulated_s)
    page = contribution.sections[0]
    records = [record for record in runs.records if _is_understood(record)]
    if not records:
        return contribution
    page.figures += filter(None, [over_sizes(records)])
    page.tables.insert(1, table("Solutions", solved_runs(records), SOLUTIONS))
    page.note = f"{page.note} {ABOUT_SOLUTIONS}"
    contribution.findings += findings(records)
    add_scaling(APP, scaling_tables(records), runs, contribution)
    return contribution


def _is_understood(record: AppRecord) -> bool:
    try:
        record.answer.read_as(CgAnswer)
        return record.parameters["variant"] in VARIANTS and cells_of(record).product > 0
    except (KeyError, TypeError, ValueError):
        return False


def findings(records: Sequence[AppRecord]) -> list[Finding]:
    """How iterations grow with the size, and what writing a solution took."""
    grown = [
        Finding(
            f"{APP.title} in {dimensions} dimensions to {eps:g}: iterations grow as n to the power "
            f"{law.exponent.value:.3g}{law.exponent.bounds(none=' (two sizes, no interval)')}, over {law.sizes} "
            f"sizes, n from {law.smallest_n:.4g} to {law.largest_n:.4g}.",
            ANCHOR,
            0.6,
        )
        for (dimensions, eps), law in laws(records).items()
    ]
    written = [
        Finding(
            f"Writing the solution, {format_size(answer.file_B)} from {counted(record.ranks, 'rank')}, took "
            f"{format_time(answer.file_write_s)}, {format_rate(answer.file_B / answer.file_write_s)} (once, no "
            "interval).",
            ANCHOR,
            0.25,
        )
        for record in records
        if (answer := record.answer.read_as(CgAnswer)).file_B and answer.file_write_s
    ]
    return grown + written[:1]
