"""`hockney apply`: an unmodified program with the schedules that a table names in place of its library's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.table import Table

from hockney.fields import Argument, Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time, parse_bytes

with later():
    from hockney.records.preload_table import PreloadTable, load
    from hockney.runner.applied import Applied, applied, variables
    from hockney.runner.launch_line import understand
    from hockney.runner.preload import run


class ApplyOptions(BaseModel):
    """What is put under a program, and what is said of it at the end."""

    table: Annotated[
        Path, Option("Table of schedules, as `hockney tune --for hockney` writes it.", flags=("--rules",))
    ]
    bitwise: Annotated[
        bool,
        Option(
            "Leave reductions of floating-point numbers and by operators of the program to the library: every "
            "result is then the same to the last bit.",
            flags=("--bitwise",),
        ),
    ] = False
    summary: Annotated[
        bool,
        Option(
            "Say at the end what was called on all ranks, what ran, and what it gained as far as that is known.",
            flags=("--summary",),
        ),
    ] = False
    compare: Annotated[
        bool,
        Option(
            "Let the library's own code run half of the calls that a rule is for, and add to the summary what "
            "the schedules gained.",
            flags=("--compare",),
        ),
    ] = False
    scratch_B: Annotated[
        int | None,
        Option(
            "Memory that a call may take of a process besides the program's own; a call that needs more on any "
            "rank goes to the library. [default: 256 MiB]",
            flags=("--scratch",),
            metavar="SIZE",
            read=parse_bytes,
        ),
    ] = None
    kept_B: Annotated[
        int | None,
        Option(
            "Memory of a process for schedules that are kept for further calls. [default: 64 MiB]",
            flags=("--schedules",),
            metavar="SIZE",
            read=parse_bytes,
        ),
    ] = None
    mpi: Annotated[
        str | None,
        Option("The program's: openmpi, mpich, intel, a prefix or a wrapper. [default: the launcher's]"),
    ] = None
    command: Annotated[
        list[str], Argument("The launch line, after `--`.", metavar="MPIRUN … PROGRAM …", repeat=True)
    ]


@verb(
    "apply",
    launches=True,
    examples="""hockney apply --rules table.json -- mpirun -n 4 ./app --its-own options
hockney apply --rules table.json --summary -- mpiexec -n 8 python program.py
hockney apply --rules table.json --compare -- mpirun -n 4 ./app
hockney apply --rules table.json --bitwise -- srun -n 128 ./app""",
)
def apply(options: ApplyOptions, json: JsonOption = False) -> None:
    """Run an MPI program with the schedules of a table under its collectives.

    A library is preloaded into the processes of the program, which need not be built anew. Calls without a
    rule, and all that the layer does not know, go to the MPI library. Ends with the exit code of the launch line.
    """
    table = load(options.table)
    launch = understand(options.command, options.mpi)
    if launch.mpi and table.mpi not in ("", launch.mpi.describe()):
        say.warn(f"{options.table} is for {table.mpi}, and the program runs on {launch.mpi.describe()}")
    sums = options.summary or json
    told = variables(
        table,
        bitwise=options.bitwise,
        sums=sums,
        compare=options.compare,
        scratch_B=options.scratch_B,
        kept_B=options.kept_B,
    )
    outcome = run(launch, told)
    done = applied(outcome, table, compare=options.compare)
    for text in outcome.said:
        say.warn(text)
    if json:
        say.json(done.model_dump())
    elif (options.summary or options.compare) and done.is_seen:
        _show(done, table, compare=options.compare)
    raise typer.Exit(outcome.code)


def _show(done: Applied, table: PreloadTable, *, compare: bool) -> None:
    shown = Table(title=f"collectives of {done.ranks} ranks", box=None)
    halves = ("by the schedule", "by the library", "measured") if compare else ()
    for heading in ("operation", "what ran", "calls", "bytes", "time", "gain", *halves):
        shown.add_column(heading, justify="left" if heading in ("operation", "what ran") else "right")
    for row in done.calls:
        gain = "–" if row.gain is None else f"{row.gain:.2f} ({row.basis})"
        ran = row.algorithm or f"the library's own: {row.why}"
        both = ["–"] * len(halves)
        if compare and row.measured_gain is not None:
            both = [format_time(row.compared_s), format_time(row.library_s), f"{row.measured_gain:.2f}"]
        what = (row.operation, ran, str(row.calls), format_bytes(row.bytes), format_time(row.time_s), gain)
        shown.add_row(*what, *both)
    say.table(shown)
    if done.saved_s is not None:
        say.line(f"by the gains of the table, {format_time(done.saved_s)} were saved on all ranks together")
    if done.dropped is not None and done.dropped.schedules:
        say.line(
            f"{done.dropped.schedules} schedules made room for others, and were made again when needed: a "
            f"process keeps {done.dropped.most} of a communicator, {format_bytes(done.dropped.most_B)} of all"
        )
    if unused := [number for number in range(len(table.rules)) if number not in {r.rule for r in done.calls}]:
        say.line(f"{len(unused)} of the table's {len(table.rules)} rules met no call")
