"""`hockney run cg`: whole solutions, where their time goes, and a file of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney import writing
from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.app import CgStudy
from hockney.apps.cg.solution import describe, description, part
from hockney.apps.cg.solved import SOLUTIONS, last_norm, name_of, solved_runs
from hockney.apps.launched import Runs, Told
from hockney.apps.stencil.run import ran
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.report.run_tables import table
from hockney.report.tables import Table
from hockney.units import counted


@dataclass(frozen=True)
class CgRuns(Runs):
    """Runs of conjugate gradients."""

    def text(self) -> Iterator[str | Table]:
        """Iterations, and whole solutions."""
        yield from super().text()
        yield table("Solutions", solved_runs(self.runs), SOLUTIONS)

    def wrong(self) -> list[tuple[str, str]]:
        """Runs that were to converge and did not, and those whose residual is not what the iteration says."""
        answers = [(run, run.answer.read_as(CgAnswer)) for run in self.runs]
        late = [
            ("not converged", f"{name_of(run)}: after {answer.iterations} iterations on {run.ranks} ranks")
            for run, answer in answers
            if run.parameters["eps"] > 0 and not answer.converged
        ]
        return late + [
            (
                "wrong",
                f"{name_of(run)}: ‖b - A x‖ on {counted(run.ranks, 'rank')} is {answer.true_residual_norm}, not "
                f"{last_norm(answer)} as the iteration says, to {answer.residual_tolerance}",
            )
            for run, answer in answers
            if answer.verified is False
        ]


def run(told: Told, study: CgStudy, launching: AppLaunching) -> CgRuns:
    """Each size on each number of ranks, grid and formulation, on one launch."""
    if study.solution:
        # Before anything is launched.
        writing.expect_writable(study.solution)
        for beside in (part, description):
            writing.expect_writable(beside(study.solution))
        if len(launching.variants) > 1:
            raise RequestError("several launches would write to the same file", "ask for one --variant")
    runs = ran("cg", told, study, launching)
    if study.solution:
        describe(study.solution, runs[0])
    return CgRuns(runs)
