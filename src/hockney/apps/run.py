"""`hockney run`: small applications on a real MPI, each entered by the module `run` of its folder."""

from __future__ import annotations

from collections.abc import Callable

from hockney.campaign.plan import AppLaunching
from hockney.errors import Incomplete
from hockney.terminal import group, say
from hockney.terminal.loading import later
from hockney.terminal.signals import Interrupted, interruptible

with later():
    from hockney.apps.launched import Launched, each, opened
    from hockney.campaign.loop import Asking
    from hockney.campaign.prepare import app_launches
    from hockney.records.app_record import AppRecord
    from hockney.runner.mpi import TITLES

run = group(
    "run",
    examples="hockney run ring --ranks 2\nhockney run jacobi --size 400 --ranks 2 -o runs",
    places=("hockney.apps.{}.run",),
)


FREE_CELLS = (
    "on a simulated cluster arithmetic takes no time: times, speed-ups and rates are those of the communication "
    "alone; --cell-time says what a cell takes"
)


def run_app(
    ask: Callable[[Launched], Asking[AppRecord]], launching: AppLaunching, *, has_free_cells: bool = False
) -> list[AppRecord]:
    """Launch as the options say and collect what `ask` asks for on each launch.

    Standard error has the warnings, and on a terminal what is being done. `has_free_cells`: nobody says what the
    arithmetic takes on a simulated cluster.
    """
    # What cannot be launched leaves no folder behind.
    launches = app_launches(launching)
    folder = opened(launching.output, launching.model_dump())
    try:
        words = f"launching {launches[0].mpi_name}, {launching.ranks} ranks"
        with interruptible(), say.status(words) as doing:
            if has_free_cells and launches[0].mpi_name.startswith(TITLES["smpi"]):
                say.warn(FREE_CELLS)
            return each(launches, launching, folder, say.warn, doing, ask)
    except Interrupted as error:
        kept = f"; {len(folder.apps())} runs are kept in {folder.path}" if folder else ""
        raise Incomplete(f"{error.name} ended the run{kept}", "give the same command to run it again") from None
