"""Options of `hockney study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from hockney.batch.options import Submission as Submission
from hockney.campaign.plan import LAUNCH
from hockney.campaign.plan import AppLaunching as AppLaunching
from hockney.fields import Argument, Option
from hockney.fields import Without as Without
from hockney.options.report import CollectiveTimes
from hockney.runner.launchers.base import MapBy
from hockney.studies.files import FOLDER
from hockney.units import names as words_of
from hockney.units import wholes

SHIPPED = ", ".join(sorted(path.stem for path in FOLDER.glob("*.toml")))
LIST, SHOW, PROGRAM = "list", "show", "program"
MOST_NODES = 2**20


class StudyOptions(CollectiveTimes):
    """Which study, into which folder, and how much of it."""

    name: Annotated[
        str,
        Argument(
            f"Study: {SHIPPED}, {PROGRAM}, a TOML file of your own, `list`, or `show` and a name.",
            metavar="NAME",
            known=lambda: [LIST, SHOW, PROGRAM, *SHIPPED.split(", ")],
        ),
    ]
    words: Annotated[
        list[str],
        Argument(
            "The study that `show` prints, or the launch line of `program`, after `--`.",
            metavar="[NAME | MPIRUN … PROGRAM …]",
            repeat=True,
            show=None,
        ),
    ] = Field(default_factory=list)
    parts: Annotated[
        list[str],
        Option("Of a study that has several, as assignment: ring,jacobi. [default: all]", read=words_of),
    ] = Field(default_factory=list)
    output: Annotated[
        Path | None, Option("Folder of the study. [default: the name of the study]", flags=("--output", "-o"))
    ] = None
    quick: Annotated[bool, Option("Take minutes, with wider intervals.", flags=("--quick",))] = False
    resume: Annotated[bool, Option(flags=("--resume",))] = False
    trust: Annotated[bool, Option(flags=("--trust",))] = False
    dry_run: Annotated[bool, Option("Print the plan and its time, and launch nothing.", flags=("--dry-run",))] = (
        False
    )
    source: Annotated[
        Path | None,
        Option(
            "Use this campaign, table or folder of OSU, IMB or other results in place of measuring.",
            flags=("--from",),
            metavar="FOLDER|TABLE",
        ),
    ] = None
    ranks: Annotated[
        int | None, Option("Number of ranks. [default: the cores of the hosts]", panel=LAUNCH), Field(ge=1)
    ] = None
    nodes: Annotated[
        list[int],
        Option(
            "Numbers of nodes such as 1,2,4, each a job with its share of --ranks.",
            read=lambda text: sorted(set(wholes(text, range(1, MOST_NODES)))),
            panel=LAUNCH,
        ),
    ] = Field(default_factory=list)
    map_by: Annotated[
        list[MapBy],
        Option(
            "Where consecutive ranks go: core, socket, node, …, or several. [default: as the study says]",
            read=words_of,
            panel=LAUNCH,
        ),
    ] = Field(default_factory=list)
