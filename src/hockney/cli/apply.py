"""`hockney apply`: run a program with the faster schedules of a table."""

from __future__ import annotations

import typer

from hockney import api
from hockney.options.tune import ApplyOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_time


@verb(
    "apply",
    launches=True,
    examples="""hockney apply --rules table.json -- mpirun -n 4 ./app --its-own options
hockney apply --rules table.json --summary -- mpiexec -n 8 python program.py
hockney apply --rules table.json --compare -- mpirun -n 4 ./app
hockney apply --rules table.json --bitwise -- srun -n 128 ./app""",
)
def apply(options: ApplyOptions, json: JsonOption = False) -> None:
    """Run an MPI program whose collectives use the schedules of a table.

    A library is preloaded into the program, which need not be rebuilt. Calls without a rule, and all that the
    layer does not know, go to the MPI library. The exit code is that of the launch line.
    """
    with say.at_end(json) as warn:
        done = api.apply(options, warn, sums=options.summary or json, quiet=json)
        for text in done.warnings:
            warn(text)
        if json:
            say.json(done.model_dump())
        elif (options.summary or options.compare) and done.is_seen:
            _show(done, compare=options.compare)
    raise typer.Exit(done.exit_code)


CALLS = (
    Column("operation", "operation"),
    Column("what ran", lambda call: call.algorithm or f"the library's own: {call.why}"),
    Column("calls", "calls", is_number=True),
    Column("bytes", "bytes", format_bytes, is_number=True),
    Column("time", "time_s", format_time, is_number=True),
    Column("gain", lambda call: None if call.gain is None else f"{call.gain:.2f} ({call.basis})", is_number=True),
)
COMPARED = (
    Column("by the schedule", lambda call: call.measured_gain and call.compared_s, format_time, is_number=True),
    Column("by the library", lambda call: call.measured_gain and call.library_s, format_time, is_number=True),
    Column("measured", "measured_gain", "{:.2f}".format, is_number=True),
)


def _show(done: api.Applied, *, compare: bool) -> None:
    say.rows(f"collectives of {done.ranks} ranks", done.calls, [*CALLS, *(COMPARED if compare else ())])
    if done.saved_s is not None:
        say.line(f"by the gains of the table, {format_time(done.saved_s)} were saved on all ranks together")
    if done.dropped is not None and done.dropped.schedules:
        say.line(
            f"{done.dropped.schedules} schedules made room for others, and were made again when needed: a "
            f"process keeps {done.dropped.most} of a communicator, {format_bytes(done.dropped.most_B)} of all"
        )
    if done.unmet:
        say.line(f"{done.unmet} of the table's {counted(done.rules, 'rule')} met no call")
