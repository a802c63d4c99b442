"""`hockney profile`: what an unmodified program communicates, where it waits, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.table import Table

from hockney import writing
from hockney.fields import Argument, Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time

with later():
    from hockney.records.profile import Profile
    from hockney.runner.launch_line import understand
    from hockney.runner.preload import run
    from hockney.runner.profiled import watched

WATCHING = {"HOCKNEY_PRELOAD": "profile"}
FEW = 20
"""Rows that the terminal shows; the file has all."""


class ProfileOptions(BaseModel):
    """Which program is watched, and where the profile goes."""

    output: Annotated[Path, Option("File of the profile.", flags=("--output", "-o"))] = Path("profile.json")
    mpi: Annotated[
        str | None,
        Option("The program's: openmpi, mpich, intel, a prefix or a wrapper. [default: the launcher's]"),
    ] = None
    command: Annotated[
        list[str], Argument("The launch line, after `--`.", metavar="MPIRUN … PROGRAM …", repeat=True)
    ]


@verb(
    "profile",
    launches=True,
    examples="""hockney profile -- mpirun -n 4 ./app
hockney profile -o app.json -- srun -n 128 ./app --its-own options
hockney profile --json -- mpiexec -n 8 python program.py""",
)
def profile(options: ProfileOptions, json: JsonOption = False) -> None:
    """Run an MPI program and write down what it communicates: a library is preloaded that only watches.

    By communicator, operation and call site: calls, bytes, time, and how much of the time of blocking collectives
    was waiting for others. `hockney predict profile.json` says what that would cost on another machine. Ends with
    the exit code of the launch line.
    """
    writing.expect_writable(options.output)
    launch = understand(options.command, options.mpi)
    outcome = run(launch, WATCHING)
    made = watched(outcome, launch.mpi.describe() if launch.mpi else "")
    try:
        if made is not None:
            made.write(options.output)
    except writing.NotWritten as error:
        # The exit code is the program's, which has run.
        outcome.said.append(error.message)
        made = None
    for text in outcome.said:
        say.warn(text)
    if json:
        written = str(options.output) if made else None
        shown = made.model_dump(exclude={"schema_version"}) if made else None
        say.json({"exit_code": outcome.code, "warnings": outcome.said, "output": written, "profile": shown})
    elif made is not None:
        _show(made)
        say.line(f"written to {options.output}")
    raise typer.Exit(outcome.code)


def _show(made: Profile) -> None:
    title = f"{made.ranks} ranks, {format_time(made.elapsed_s)}; times of a rank on average"
    shown = Table(title=title, box=None)
    for heading in (
        "operation",
        "communicator",
        "call site",
        "calls",
        "bytes",
        "time",
        "waiting",
        "most",
        "late",
    ):
        left = heading in ("operation", "communicator", "call site")
        shown.add_column(heading, justify="left" if left else "right")
    for call in made.calls[:FEW]:
        place = made.communicators[call.communicator]
        on = f"{place.name or '(no name)'}, {place.ranks}" if place.ranks else "–"
        waiting = "–" if call.waiting_s is None or not call.time_s else f"{call.waiting_s / call.time_s:.0%}"
        shown.add_row(
            call.operation,
            on,
            call.site or "–",
            str(call.calls),
            format_bytes(call.bytes),
            format_time(call.time_s / max(1, made.ranks)),
            waiting,
            format_time(call.most_rank_time_s),
            f"rank {call.late.rank} ({call.late.share:.0%})" if call.late else "–",
        )
    say.table(shown)
    if len(made.calls) > FEW:
        say.line(f"and {len(made.calls) - FEW} more, in the file")
