"""Jacobi: time of a sweep, lattice updates per second, and the bandwidth that bounds them."""

from __future__ import annotations

from hockney.apps.stencil.runs import ABOUT_PREDICTION, of_rank, sides, simulated_s
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Made, Runs, app_sections
from hockney.report.run_tables import Shown
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

    def shown(self, record: AppRecord) -> Shown:
        """A sweep."""
        asked, answer = record.parameters, record.answer
        parts_s = [sum(answer[key]) for key in ("compute_s", "pack_s", "wait_s")]
        share = answer.get("fraction_of_bound")
        return Shown(
            record,
            problem=sides(record, "n"),
            count=int(asked["iterations"]),
            of_rank=of_rank(record),
            grid=sides(record, "p"),
            way=f"{asked['halo']}, {asked['faces']}",
            rate=float(answer["mlups"]),
            bound_share=None if share is None else float(share),
            communication=sum(parts_s[1:]) / sum(parts_s) if sum(parts_s) else None,
        )

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """The mean of the sweeps of a repetition."""
        return simulated_s(record, basis)


@app_sections.register("jacobi")
def jacobi(runs: Runs) -> Made:
    """Its section."""
    return section(Jacobi(), runs)
