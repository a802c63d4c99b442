"""`hockney run`: small applications on a real MPI. Here is what they share: how ranks are launched."""

from __future__ import annotations

from collections.abc import Callable

from hockney.campaign.plan import AppLaunching
from hockney.terminal import group, say
from hockney.terminal.loading import later

with later():
    from hockney.apps.launched import Launched, each, opened
    from hockney.campaign.loop import Asking
    from hockney.campaign.prepare import app_launches
    from hockney.records.app_record import AppRecord

run = group(
    "run",
    help="Small applications on your MPI: ring, sum3d, jacobi, cg, pinning.",
    places=("hockney.cli.run",),
)


def run_app(do: Callable[[Launched], Asking[AppRecord]], launching: AppLaunching) -> list[AppRecord]:
    """Launch as the options say and collect what `do` asks for on each launch; warnings go to standard error."""
    launches = app_launches(launching)
    return each(launches, launching, opened(launching.output, launching.model_dump()), say.warn, do)
