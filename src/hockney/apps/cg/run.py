"""`hockney run cg`: conjugate gradients for Poisson's equation, without a matrix."""

from __future__ import annotations

from pathlib import Path
from socket import gethostname
from typing import Annotated

from pydantic import BaseModel

from hockney.apps.cg.options import CgStudy
from hockney.apps.run import run, run_app
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import Without

with later():
    from hockney.apps.cg.answer import CgAnswer
    from hockney.apps.cg.options import last_norm
    from hockney.apps.cg.picture import convergence, solution
    from hockney.apps.cg.solution import description, part, read, require_place
    from hockney.apps.cg.study import cache_line, name_of, table, unconverged, wrong
    from hockney.apps.launched import Launched
    from hockney.campaign.loop import Asking
    from hockney.records.app_record import AppRecord
    from hockney.report.drawn import checked_ending
    from hockney.runner.inventory import inventory


class Pictures(BaseModel):
    """What is drawn of a run."""

    plot: Annotated[Path | None, Option("The solution.", flags=("--figure",))] = None
    convergence: Annotated[
        Path | None, Option("Picture of the residual over iterations: .svg, .png or .html.")
    ] = None


@verb(
    "cg",
    examples="hockney run cg\n"
    "hockney run cg --size 500x500 --ranks 2\n"
    "hockney run cg --size 200x200x200 --ranks 1,2 --bound\n"
    "hockney run cg --size 300x200 --ranks 6 --grid all --convergence convergence.png\n"
    "hockney run cg --size 300x200 --solution u.dat --figure u.png",
    of=run,
)
def cg(
    study: CgStudy,
    pictures: Pictures,
    launching: Annotated[AppLaunching, Without("ranks")],
    json: JsonOption = False,
) -> None:
    """Conjugate gradients for Poisson's equation in two or three dimensions: iterations, time, memory traffic.

    The stop is r · r ≤ eps² of its first value. Several sizes, ranks, grids and formulations are one launch.
    """
    _check_places(study, pictures)
    # Each launch does the whole study: one file cannot hold the solutions of all.
    study = CgStudy.model_validate({**dict(study), "launches": max(1, len(launching.variants))})
    hosts: set[str] = set()

    def do(launched: Launched) -> Asking[AppRecord]:
        hosts.update(place.host for place in launched.placement)
        return study.asking(launched)

    placed = launching.model_copy(update={"ranks": max(study.ranks)})
    records = run_app(do, placed, has_free_cells=not study.cell_s)
    if json:
        say.json({"runs": [record.model_dump() for record in records]})
    else:
        say.table(table(records))
        _explain(records, hosts)
    _draw(records, study.solution, pictures)
    late, failed = unconverged(records), wrong(records)
    for record in late:
        answer = record.answer.read_as(CgAnswer)
        say.wrong(
            "not converged",
            f"{name_of(record)}: after {answer.iterations} iterations on {record.ranks} ranks",
        )
    for record in failed:
        answer = record.answer.read_as(CgAnswer)
        say.wrong(
            "wrong",
            f"{name_of(record)}: ‖b - A x‖ on {record.ranks} ranks is "
            f"{answer.true_residual_norm}, not {last_norm(answer)} as the iteration says, to "
            f"{answer.residual_tolerance}",
        )
    if late or failed:
        answer_no()


def _explain(records: list[AppRecord], hosts: set[str]) -> None:
    """What the caches of this host make of several ranks; silent for other hosts and without such a study."""
    caches = [cache for cache in inventory().caches if cache.level >= 2 and cache.type != "Instruction"]
    is_here = hosts == {gethostname()}
    if not caches or not is_here or len({record.ranks for record in records}) < 2:
        return
    last = max(caches, key=lambda cache: cache.level)
    for line in dict.fromkeys(cache_line(record, last.size_B, last.cpus_per_cache) for record in records):
        say.line(line)


def _draw(records: list[AppRecord], values: Path | None, pictures: Pictures) -> None:
    if pictures.convergence:
        histories = [
            (name_of(record), record.answer.read_as(CgAnswer).residual_norms or []) for record in records
        ]
        convergence(pictures.convergence, histories)
    if pictures.plot and values:
        spacing = 1 / (max(records[0].parameters[key] for key in ("nx", "ny", "nz")) + 1)
        solution(pictures.plot, read(values), spacing)


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
