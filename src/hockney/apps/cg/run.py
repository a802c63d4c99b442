"""`hockney run cg`: whole solutions, where their time goes, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hockney import reading, writing
from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.app import CgStudy
from hockney.apps.cg.picture import solution
from hockney.apps.cg.solution import describe, description, part
from hockney.apps.cg.solved import SOLUTIONS, last_norm, name_of, solved_runs
from hockney.apps.launched import Runs, Told
from hockney.apps.stencil.grids import cells_of
from hockney.apps.stencil.run import ran
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report.drawing import checked_ending
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
    """Each size on each number of ranks, grid and formulation, on one launch; files are written first."""
    _check_places(study)
    if study.solution and len(launching.variants) > 1:
        raise RequestError("several launches would write to the same file", "ask for one --variant")
    runs = ran("cg", told, study, launching)
    if study.solution:
        _describe(study.solution, runs[0])
        if study.figure:
            values = np.frombuffer(reading.content(study.solution)).reshape(cells_of(runs[0])[::-1])
            solution(study.figure, values, _spacing(runs[0]))
    return CgRuns(runs)


def _spacing(run: AppRecord) -> float:
    """Between unknowns."""
    return 1 / (max(cells_of(run)) + 1)


def _describe(path: Path, run: AppRecord) -> None:
    answer, cells = run.answer.read_as(CgAnswer), cells_of(run)
    facts = {
        "iterations": answer.iterations,
        "converged": answer.converged,
        "verified": answer.verified,
        "residual_norm": last_norm(answer),
    }
    describe(path, (cells.z, cells.y, cells.x), _spacing(run), facts)


def _check_places(study: CgStudy) -> None:
    """RequestError before anything is launched where a file could not be written, or would mean nothing."""
    if study.figure:
        checked_ending(study.figure)
    for place in filter(None, (study.figure, study.solution)):
        writing.expect_writable(place)
    if study.solution:
        for beside in (part, description):
            writing.expect_writable(beside(study.solution))
    if study.figure and not study.solution:
        raise RequestError("--figure draws a solution", "add --solution FILE")
