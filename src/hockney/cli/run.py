"""`hockney run`: run a small application on your MPI."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from hockney import api
from hockney.cli._applications import enter
from hockney.terminal import group, say
from hockney.terminal.signals import interruptible

run = group("run", examples="hockney run ring --ranks 2\nhockney run jacobi --size 400 --ranks 2 -o runs")


def _run(name: str, models: Mapping[str, BaseModel], _: bool) -> object:
    with interruptible(), say.status("looking for an MPI") as doing:
        return api.run_application(name, models, api.Told(say.warn, doing))


enter("run", run, _run)
