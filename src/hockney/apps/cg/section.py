"""Conjugate gradients: time of an iteration, and the bandwidth that bounds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.figure import over_sizes
from hockney.apps.cg.findings import cache_steps, findings
from hockney.apps.cg.options import last_norm
from hockney.apps.cg.study import VECTORS, grid_of, name_of, size_of, speedups
from hockney.apps.stencil.runs import ABOUT_PREDICTION, of_rank, sides, simulated_s
from hockney.apps.stencil.steps import SUMS
from hockney.errors import RequestError
from hockney.models.scaling.study import Study, study
from hockney.models.scaling.times import Times
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun
from hockney.report.run_tables import table as run_table
from hockney.report.runs_section import Program, section
from hockney.report.scaling import laws_of, several
from hockney.report.tables import Table
from hockney.units import format_rate, format_time


class Cg(Program):
    """Times are those of a whole solution over its iterations, as they are predicted."""

    name = "cg"
    title = "Conjugate gradients"
    meaning = (
        "Conjugate gradients for Poisson's equation; an iteration exchanges halos, applies the operator and adds "
        "up over all ranks. Its time is that of the whole solution over the number of iterations."
    )
    unit = "an iteration"
    rate = "iterations/s"
    about = "Communication: halos and sums, of the time of all ranks."
    about_bound = "The bound: memory bandwidth, measured in turns with solutions, over the bytes of an iteration."
    about_prediction = f"{ABOUT_PREDICTION} Sums go by {SUMS.replace('_', ' ')}."

    def reported(self, record: AppRecord) -> ReportedRun:
        """An iteration."""
        parameters, answer = record.parameters, record.answer.read_as(CgAnswer)
        iterations, fractions = answer.iterations, answer.fractions_of_bound
        parts_s = [sum(of_ranks_s) for of_ranks_s in (answer.compute_s, answer.halo_s, answer.allreduce_s)]
        return ReportedRun(
            record,
            problem=sides(record, "n"),
            count=iterations,
            of_rank=of_rank(record),
            grid=sides(record, "p"),
            way=f"{parameters['variant']}, {parameters['halo']}, {parameters['faces']}",
            rate=iterations / record.time_s if record.time_s else None,
            bound_share=median(fractions) if fractions else None,
            communication=sum(parts_s[1:]) / sum(parts_s) if sum(parts_s) else None,
        )

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """The mean of the iterations of a solution."""
        return simulated_s(record, basis)


@app_sections.register("cg")
def cg(runs: Runs) -> Contribution:
    """Its section: iterations, then whole solutions with their residuals and speed-ups, and figures over size."""
    contribution = section(Cg(), runs)
    page = contribution.sections[0]
    records = [record for record in runs.records if _is_understood(record)]
    if not records:
        return contribution
    studies = _studies(records)
    laws = laws_of({f"Conjugate gradients, {name}": made for name, made in studies.items()}, page.id)
    drawings = [over_sizes(records), replace(several(studies), name="app-cg-speedup") if studies else None]
    page.figures += [drawing for drawing in drawings if drawing is not None] + laws.figures
    page.tables.insert(1, _solutions(records))
    page.tables += laws.tables
    launches = list(runs.basis.launches.values()) if runs.basis else []
    found = [
        f"{variant}: {step.in_words('an unknown')}."
        for variant, steps in cache_steps(records, launches).items()
        for step in steps
    ]
    page.note = " ".join(filter(None, [page.note, ABOUT_SOLUTIONS, *found, laws.note]))
    contribution.findings += [*findings(records, launches), *laws.findings]
    return contribution


ABOUT_SOLUTIONS = (
    "Residuum is r·r at the end. Speed-up and efficiency are over the fewest ranks of the same size and "
    "formulation; above 1, caches hold more of a rank's vectors. Writing is one MPI_File_write_all with "
    "MPI_File_sync."
)


def _is_understood(record: AppRecord) -> bool:
    try:
        record.answer.read_as(CgAnswer)
        return record.parameters["variant"] in VECTORS and size_of(record).product > 0
    except (KeyError, TypeError, ValueError):
        return False


def _solutions(records: Sequence[AppRecord]) -> Table:
    """A row for each run, with the columns of published tables of such runs."""
    answers = [record.answer.read_as(CgAnswer) for record in records]
    norms, ratios = [last_norm(answer) for answer in answers], speedups(records)
    return run_table(
        "Solutions",
        {
            "size": [str(size_of(record)) for record in records],
            "ranks": [str(record.ranks) for record in records],
            "grid": [str(grid_of(record)) for record in records],
            "formulation": [str(record.parameters["variant"]) for record in records],
            "iterations": [str(answer.iterations) for answer in answers],
            "converged": [
                "" if not record.parameters["eps"] else "yes" if answer.converged else "no"
                for record, answer in zip(records, answers, strict=True)
            ],
            "residuum": ["" if norm is None else f"{norm**2:.6g}" for norm in norms],
            "time of a solution": [format_time(record.time_s) for record in records],
            "speed-up": [f"{ratio[0]:.3g}" if ratio else "" for ratio in ratios],
            "efficiency": [f"{ratio[1]:.3g}" if ratio else "" for ratio in ratios],
            "writing": [format_time(answer.file_write_s) if answer.file_write_s else "" for answer in answers],
            "rate of writing": [
                format_rate(answer.file_B / answer.file_write_s) if answer.file_B and answer.file_write_s else ""
                for answer in answers
            ],
        },
        {"size", "grid", "formulation", "converged"},
    )


def _studies(records: Sequence[AppRecord]) -> dict[str, Study]:
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
