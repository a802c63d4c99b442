"""The three-dimensional sum: time of a cycle of scatters, sum and gather."""

from __future__ import annotations

from hockney.apps.stencil.grids import Grid
from hockney.apps.sum3d.answer import Sum3dAnswer
from hockney.apps.sum3d.model import costs_of
from hockney.apps.sum3d.study import Sum3dProblem, summary
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun
from hockney.report.runs_section import Program, section
from hockney.units import Extents


class Sum3d(Program):
    """Rank 0 holds the matrices."""

    name = "sum3d"
    title = "Sum of matrices"
    meaning = "Rank 0 scatters two matrices, every rank adds its parts, rank 0 gathers the sum."
    unit = "a cycle"
    rate = "10⁶ sums/s"
    about = "Communication: scatters and gather, which also wait for the slowest rank, of the time of all ranks."
    about_prediction = (
        "scatter and gather from messages of the farthest locality that was measured, the sum and copies from "
        "the memory bandwidth that each run measured itself: in those parts nothing is foretold."
    )

    def reported(self, record: AppRecord) -> ReportedRun:
        """A cycle."""
        problem, answer = _problem(record), record.answer.read_as(Sum3dAnswer)
        parts_s = {name: sum(of_ranks_s) for name, of_ranks_s in answer.parts_s.items()}
        total_s = sum(parts_s.values())
        return ReportedRun(
            record,
            problem=str(problem.size),
            grid=str(problem.grid),
            way=f"{problem.split}{', packed' if problem.packed else ''}",
            rate=problem.size.product / record.time_s / 1e6 if record.time_s else None,
            communication=(parts_s["scatter_s"] + parts_s["gather_s"]) / total_s if total_s else None,
        )

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """With linear scatter and gather, as `hockney run sum3d --machine` does."""
        problem = _problem(record)
        costs = costs_of(basis.of(record), basis.origin, problem.size)
        of_run = summary(problem, record, costs)
        assumptions = costs.on_nodes(record.nodes).assumptions(None, record.ranks)
        return float(of_run["predicted"]["parts"]["time_s"]["predicted_s"]), assumptions


def _problem(record: AppRecord) -> Sum3dProblem:
    parameters = record.parameters
    size, grid = (tuple(int(parameters[f"{letter}{axis}"]) for axis in "xyz") for letter in "np")
    return Sum3dProblem(Extents(*size), Grid(*grid), str(parameters["split"]), bool(parameters["packed"]))


@app_sections.register("sum3d")
def sum3d(runs: Runs) -> Contribution:
    """Its section."""
    return section(Sum3d(), runs)
