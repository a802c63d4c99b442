"""`hockney run jacobi`: a Jacobi solver in three dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.apps.jacobi.options import JacobiStudy
from hockney.apps.run import run, run_app
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import Without

with later():
    from hockney.apps.jacobi.study import explained, fastest_grid, table, wrong
    from hockney.machine.file import load
    from hockney.predict.machine_costs import of_machine


class GridChoice(BaseModel):
    """What the process grid is chosen by, where none is named."""

    machine: Annotated[Path | None, Option("Without --grid, take the one that is predicted fastest.")] = None


@verb(
    "jacobi",
    examples="hockney run jacobi\n"
    "hockney run jacobi --size 400 --ranks 2\n"
    "hockney run jacobi --size 2000x2000x64 --ranks 4 --grid 1x4x1 --halo overlap\n"
    "hockney run jacobi --subdomain 200 --ranks 1,2,4 --grid all -o jacobi\n"
    "hockney run jacobi --size 400 --ranks 6 --machine machine.json",
    of=run,
)
def jacobi(
    study: JacobiStudy,
    launching: Annotated[AppLaunching, Without("ranks")],
    choice: GridChoice,
    json: JsonOption = False,
) -> None:
    """A 7-point Jacobi solver: halo exchange, lattice updates per second, and the bandwidth that bounds them."""
    if machine := choice.machine:
        if study.grids or study.every_grid:
            raise RequestError("--grid and --machine both say which grid", "give one of them")
        costs = of_machine(load(machine), str(machine), both_ways=True)
        side = study.subdomain or 0
        try:
            chosen = {count: fastest_grid(count, study.cells, side, study.halo, costs) for count in study.ranks}
        except RequestError as error:
            raise RequestError(error.message, "name a --grid, or leave out --machine") from error
        study = study.model_copy(update={"chosen": chosen})
    # With threads a rank has as many cores; without, binding stays as the options say.
    threads = study.threads if study.threads > 1 else None
    placed = launching.model_copy(update={"ranks": max(study.ranks), "threads": threads})
    records = run_app(study.asking, placed, has_free_cells=not study.cell_s)
    if json:
        say.json({"scaling": study.scaling, "runs": [record.model_dump() for record in records]})
    else:
        for line in [*table(records), *dict.fromkeys(filter(None, map(explained, records)))]:
            say.line(line)
    failed = wrong(records)
    for record in failed:
        say.wrong("wrong", f"the solution on {record.ranks} ranks is not what it must be")
    if failed:
        answer_no()
