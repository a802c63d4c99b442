"""Conjugate gradients: time of an iteration, the bandwidth that bounds it, and whole solutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.app import APP
from hockney.apps.cg.figure import over_sizes
from hockney.apps.cg.findings import cache_steps, findings
from hockney.apps.cg.solved import SOLUTIONS, VECTORS, name_of, size_of, solved_runs
from hockney.apps.stencil.runs import reported_run, simulated_s
from hockney.errors import RequestError
from hockney.models.scaling.study import ScalingStudy, study
from hockney.models.scaling.times import Times
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import Contribution, Runs
from hockney.report.run_tables import ReportedRun, table
from hockney.report.scaling import laws_of, scaling

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
        answer.iterations,
        f"{asked['variant']}, {asked['halo']}, {asked['faces']}",
        [answer.compute_s, answer.halo_s, answer.allreduce_s],
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
    studies = _studies(records)
    laws = laws_of({f"Conjugate gradients, {name}": made for name, made in studies.items()}, page.id)
    drawings = [over_sizes(records), replace(scaling(studies), name="app-cg-speedup") if studies else None]
    page.figures += [drawing for drawing in drawings if drawing is not None] + laws.figures
    page.tables.insert(1, table("Solutions", solved_runs(records), SOLUTIONS))
    page.tables += laws.tables
    launches = list(runs.basis.launches.values()) if runs.basis else []
    notes = [
        f"{variant}: {step.in_words('an unknown')}."
        for variant, steps in cache_steps(records, launches).items()
        for step in steps
    ]
    page.note = " ".join(filter(None, [page.note, ABOUT_SOLUTIONS, *notes, laws.note]))
    contribution.findings += [*findings(records, launches), *laws.findings]
    return contribution


def _is_understood(record: AppRecord) -> bool:
    try:
        record.answer.read_as(CgAnswer)
        return record.parameters["variant"] in VECTORS and size_of(record).product > 0
    except (KeyError, TypeError, ValueError):
        return False


def _studies(records: Sequence[AppRecord]) -> dict[str, ScalingStudy]:
    """The scaling of the fastest grid on each number of ranks, of an iteration, by size and formulation."""
    best: dict[str, dict[int, float]] = {}
    for record in records:
        of_name = best.setdefault(name_of(record), {})
        iteration_s = record.answer.read_as(CgAnswer).iteration_s
        if iteration_s > 0:
            of_name[record.ranks] = min(iteration_s, of_name.get(record.ranks, math.inf))
    studies = {}
    for name, of_name in best.items():
        counts = sorted(of_name)
        times = Times(np.array(counts, dtype=np.float64), np.array([of_name[count] for count in counts]))
        try:
            studies[name] = study(times)
        except RequestError:
            continue
    return studies
