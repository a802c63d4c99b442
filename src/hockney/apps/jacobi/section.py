"""Jacobi: time of a sweep, lattice updates per second, and the bandwidth that bounds them."""

from __future__ import annotations

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.stencil.runs import ABOUT_PREDICTION, of_rank, sides, simulated_s
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun
from hockney.report.runs_section import Program, section


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


@app_sections.register("jacobi")
def jacobi(runs: Runs) -> Contribution:
    """Its section."""
    return section(Jacobi(), runs)
