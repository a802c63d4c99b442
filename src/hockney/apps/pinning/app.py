"""Pinning: where ranks and threads run, and how to have them where they are wished."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.apps.pinning.plan import SPREADS
from hockney.apps.repetitions import Repetitions
from hockney.campaign.plan import AppLaunching
from hockney.fields import Option
from hockney.report.application import App, Question, apps
from hockney.words import listed


class WishOptions(BaseModel):
    """Where ranks and threads are wished, and what is made of it."""

    spread: Annotated[
        str,
        Option(
            f"The wish: {listed(SPREADS)}, or CPUs such as 0,6,7,13, one for each thread, rank by rank. "
            "The run is compared with it."
        ),
    ] = ""
    thread_spread: Annotated[
        str,
        Option(
            "Threads of a rank on consecutive cores (close), or far apart in its share of the --spread's unit "
            "(spread)."
        ),
    ] = "close"
    plan: Annotated[bool, Option("The plan, and each launcher's options.", flags=("--dry-run",))] = False
    topology: Annotated[
        str,
        Option(
            "With --dry-run: a machine other than this one, '2 packages x 2 numa x 4 cores x 2 "
            "threads' or a file.",
            flags=("--node",),
        ),
    ] = ""
    figure: Annotated[Path | None, Option("The node.")] = None
    repetitions: Repetitions = None


class PinningLaunching(AppLaunching):
    """Launch options with the threads of each rank."""

    threads: Annotated[
        int | None,
        Option("Each on a core of its own. [default: as the environment says]"),
        Field(ge=1),
    ] = None


APP = App(
    name="pinning",
    title="Pinning",
    meaning="Where every rank and thread may run and did, looked at while they worked.",
    run=Question(
        """Where every rank and OpenMP thread may run and does; with a wish, how to launch it, and if it was met.

Exit code 1 where the result is not what was wished.""",
        "hockney run pinning --ranks 2\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --figure node.svg\n"
        "hockney run pinning --spread 0,14 --dry-run --node '2 packages x 14 cores'\n"
        "hockney run pinning --ranks 4 --threads 2 --spread numa --thread-spread spread --dry-run "
        "--node '2 packages x 2 numa x 7 cores'\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --dry-run "
        "--node '2 packages x 2 numa x 4 cores x 2 threads'",
        {"wish": WishOptions, "launching": PinningLaunching},
    ),
)

apps.register("pinning")(APP)
