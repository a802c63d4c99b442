"""Pinning: where ranks and threads run, and how to have them where they are wished."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

from pydantic import BaseModel, Field

from hockney.apps.pinning.plan import SPREADS
from hockney.apps.repetitions import Repetitions
from hockney.campaign.plan import AppLaunching, launch
from hockney.fields import Option
from hockney.report.application import App, Question, apps
from hockney.runner.launchers.base import BindTo
from hockney.units import listed


class WishOptions(BaseModel):
    """Where ranks and threads are wished, and what is made of it."""

    spread: Annotated[
        str,
        Option(f"Placement to compare with: {listed(SPREADS)}, or a CPU for each thread, such as 0,6,7,13."),
    ] = ""
    plan: Annotated[
        bool, Option("Print the plan and the options of each launcher, and launch nothing.", flags=("--dry-run",))
    ] = False
    topology: Annotated[
        str,
        Option(
            "Another machine for --dry-run: a file, or '2 packages x 2 numa x 4 cores x 2 threads'.",
            flags=("--node",),
        ),
    ] = ""
    figure: Annotated[Path | None, Option("Picture of the node: .svg, .png or .html.")] = None
    repetitions: Repetitions = None


class PinningLaunching(AppLaunching):
    """Launch options with the binding and the threads of each rank."""

    bind_to: Annotated[BindTo, launch(f"Bind each rank to: {listed(get_args(BindTo))}.")] = "core"

    threads: Annotated[
        int | None,
        Option("OpenMP threads of each rank, a core for each. [default: as the environment says]"),
        Field(ge=1),
    ] = None


APP = App(
    name="pinning",
    title="Pinning",
    meaning="Where every rank and thread may run and did, looked at while they worked.",
    run=Question(
        """Show where ranks and OpenMP threads run; for a wished placement, how to launch it, and if it holds.

Exit code 1 where the result is not what was wished.""",
        "hockney run pinning --ranks 2\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --figure node.svg\n"
        "hockney run pinning --spread 0,14 --dry-run --node '2 packages x 14 cores'",
        {"wish": WishOptions, "launching": PinningLaunching},
    ),
)

apps.register("pinning")(APP)
