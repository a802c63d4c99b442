"""Conjugate gradients: time of an iteration, and the bandwidth that bounds it."""

from __future__ import annotations

from statistics import median

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.stencil.runs import ABOUT_PREDICTION, of_rank, sides, simulated_s
from hockney.apps.stencil.steps import SUMS
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun
from hockney.report.runs_section import Program, section


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
    """Its section."""
    return section(Cg(), runs)
