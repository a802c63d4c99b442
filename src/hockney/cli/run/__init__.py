"""`hockney run`: small applications on a real MPI. Here is what they share: how ranks are launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import err, group
from hockney.cli._words import words
from hockney.registry import unit_files

if TYPE_CHECKING:
    from hockney.apps.launched import Launched
    from hockney.campaign.loop import Asking
    from hockney.records.app_record import AppRecord

run = group("run", help="Small applications on your MPI: ring, sum3d, jacobi, cg, pinning.")

Mpi = Annotated[
    str, typer.Option(help="auto, openmpi, mpich, intel, smpi, a prefix or a wrapper (see `hockney doctor`).")
]
Ranks = Annotated[
    int | None, typer.Option(min=1, help="Ranks to launch. [default: the cores of this host]", show_default=False)
]
Hosts = Annotated[str, typer.Option(help="Comma-separated NAME or NAME:SLOTS.")]
HostFile = Annotated[str, typer.Option(help="Host file in the launcher's own format.")]
Launcher = Annotated[
    str,
    typer.Option(
        help=f"{', '.join(unit_files('hockney.runner.launchers'))}; default the one found with the MPI."
    ),
]
Platform = Annotated[str, typer.Option(help="Platform file (XML) of a simulated cluster: --mpi smpi.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="OpenMP threads of each rank, each on a core of its own. [default: as the environment says]",
        show_default=False,
    ),
]
MapBy = Annotated[str, typer.Option(help="core, socket, numa, cache, node or hwthread.")]
BindTo = Annotated[str, typer.Option(help="core, socket, numa, hwthread or none.")]
Variants = Annotated[
    list[str] | None,
    typer.Option("--variant", help="'NAME: launcher arguments and NAME=VALUE settings'; repeat to compare."),
]
TimeLimit = Annotated[str, typer.Option(help="An answer later than this ends the launch.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder that the run is added to, for `hockney report`.")
]
SystemName = Annotated[str, typer.Option("--system", help="Name of the system; default the host's name.")]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repetitions",
        min=1,
        help="Timed repetitions. [default: as many as a 1 % interval asks for, for 2 s at most]",
        show_default=False,
    ),
]


def run_app(
    do: Callable[[Launched], Asking[AppRecord]],
    *,
    output: Path | None,
    verb: str,
    mpi: str,
    ranks: int | None,
    hosts: str,
    hostfile: str,
    launcher: str,
    platform: str,
    map_by: str,
    bind_to: str,
    variants: list[str] | None,
    time_limit: str,
    system: str,
    threads: int | None = None,
    cpus: Sequence[Sequence[int]] = (),
    slots: Sequence[Sequence[int]] = (),
) -> list[AppRecord]:
    """Launch as the options say and collect what `do` asks for on each launch; warnings go to standard error."""
    from socket import gethostname

    from hockney.apps.launched import each, opened
    from hockney.campaign.plan import Launching
    from hockney.campaign.prepare import app_launches
    from hockney.runner.inventory import inventory
    from hockney.units import parse_time

    choices: dict[str, Any] = {
        "system": system or gethostname(),
        "mpi": mpi,
        "launcher": launcher,
        "ranks": ranks or inventory().cores,
        "hosts": words(hosts),
        "hostfile": hostfile,
        "platform": platform,
        "map_by": map_by,
        "bind_to": bind_to,
        "threads": threads,
        "cpus": [list(one) for one in cpus],
        "slots": [list(one) for one in slots],
        "variants": variants or [],
        "time_limit_s": parse_time(time_limit),
    }
    plan = Launching.asked(choices, f"run {verb}")
    launches = app_launches(plan)
    return each(launches, plan, opened(output, plan.model_dump()), _warn, do)


def _warn(text: str) -> None:
    err.print(f"[yellow]warning:[/yellow] {text.replace('[', chr(92) + '[')}", soft_wrap=True)
