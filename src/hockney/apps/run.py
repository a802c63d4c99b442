"""`hockney run`: small applications on a real MPI, each entered by the module `run` of its folder."""

from __future__ import annotations

from collections.abc import Callable

from hockney.apps.launched import Launched, each, opened
from hockney.campaign.loop import Asking
from hockney.campaign.plan import AppLaunching
from hockney.campaign.prepare import app_launches
from hockney.records.app_record import AppRecord
from hockney.registry import unit_files
from hockney.terminal import group, say

PLACE = "hockney.apps.{}.run"

run = group("run", help=f"Small applications on your MPI: {', '.join(unit_files(PLACE))}.", places=(PLACE,))


def run_app(ask: Callable[[Launched], Asking[AppRecord]], launching: AppLaunching) -> list[AppRecord]:
    """Launch as the options say and collect what `ask` asks for on each launch; warnings go to standard error."""
    folder = opened(launching.output, launching.model_dump())
    return each(app_launches(launching), launching, folder, say.warn, ask)
