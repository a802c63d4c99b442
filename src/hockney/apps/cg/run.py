"""`hockney run cg`: whole solutions, where their time goes, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from typing import Annotated

from pydantic import Field

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.app import CgStudy, Pictures
from hockney.apps.cg.picture import convergence, solution
from hockney.apps.cg.solution import describe, description, part, read, require_place
from hockney.apps.cg.solved import RUNS, cache_line, last_norm, name_of, size_of, solved_runs
from hockney.apps.launched import Launched, Told, records
from hockney.apps.stencil.run import asking
from hockney.campaign.loop import Asking
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report.application import AppAnswer
from hockney.report.drawn import checked_ending
from hockney.report.run_tables import table
from hockney.report.tables import Table
from hockney.runner.inventory import inventory


@dataclass(frozen=True)
class CgRuns(AppAnswer):
    """Runs of conjugate gradients; `hosts` are those that they ran on."""

    runs: list[AppRecord]
    hosts: Annotated[set[str], Field(exclude=True)]

    def text(self) -> Iterator[str | Table]:
        """The runs, and what the caches of this host make of several ranks."""
        yield table("", solved_runs(self.runs), RUNS)
        caches = [cache for cache in inventory().caches if cache.level >= 2 and cache.type != "Instruction"]
        if caches and self.hosts == {gethostname()} and len({run.ranks for run in self.runs}) > 1:
            last = max(caches, key=lambda cache: cache.level)
            yield from dict.fromkeys(cache_line(run, last.size_B, last.cpus_per_cache) for run in self.runs)

    def wrong(self) -> list[tuple[str, str]]:
        """Runs that were to converge and did not, and those whose residual is not what the iteration says."""
        answers = [(run, run.answer.read_as(CgAnswer)) for run in self.runs]
        late = [
            (
                "not converged",
                f"{name_of(run)}: after {answer.iterations} iterations on {run.ranks} ranks",
            )
            for run, answer in answers
            if run.parameters["eps"] > 0 and not answer.converged
        ]
        return late + [
            (
                "wrong",
                f"{name_of(run)}: ‖b - A x‖ on {run.ranks} ranks is {answer.true_residual_norm}, not "
                f"{last_norm(answer)} as the iteration says, to {answer.residual_tolerance}",
            )
            for run, answer in answers
            if answer.verified is False
        ]


def run(told: Told, study: CgStudy, pictures: Pictures, launching: AppLaunching) -> CgRuns:
    """Each size on each number of ranks, grid and formulation, on one launch; files are written first."""
    _check_places(study, pictures)
    # Each launch does the whole study: one file cannot hold the solutions of all.
    study = CgStudy.model_validate({**dict(study), "launches": max(1, len(launching.variants))})
    hosts: set[str] = set()

    def ask(launched: Launched) -> Asking[AppRecord]:
        hosts.update(place.host for place in launched.placement)
        return asking("cg", study, launched)

    placed = launching.model_copy(update={"ranks": max(study.ranks)})
    runs = records(told, ask, placed, has_free_cells=not study.cell_s)
    if study.solution:
        _describe(study.solution, runs[0])
    if pictures.convergence:
        histories = [(name_of(run), run.answer.read_as(CgAnswer).residual_norms or []) for run in runs]
        convergence(pictures.convergence, histories)
    if pictures.plot and study.solution:
        solution(pictures.plot, read(study.solution), _spacing(runs[0]))
    return CgRuns(runs, hosts)


def _spacing(run: AppRecord) -> float:
    """Between unknowns."""
    return 1 / (max(size_of(run)) + 1)


def _describe(path: Path, run: AppRecord) -> None:
    answer, cells = run.answer.read_as(CgAnswer), size_of(run)
    facts = {
        "iterations": answer.iterations,
        "converged": answer.converged,
        "verified": answer.verified,
        "residual_norm": last_norm(answer),
    }
    describe(path, (cells.z, cells.y, cells.x), _spacing(run), facts)


def _check_places(study: CgStudy, pictures: Pictures) -> None:
    """RequestError before anything is launched where a file could not be written, or would mean nothing."""
    drawn = list(filter(None, (pictures.plot, pictures.convergence)))
    for place in drawn:
        checked_ending(place)
    if pictures.plot and not study.solution:
        raise RequestError("a plot is drawn from the file of the solution", "add --solution FILE")
    for place in filter(None, (*drawn, study.solution)):
        require_place(place)
    if study.solution:
        require_place(part(study.solution))
        require_place(description(study.solution))
    if pictures.convergence and not study.compute:
        raise RequestError("without computing nothing converges", "leave out --convergence")
