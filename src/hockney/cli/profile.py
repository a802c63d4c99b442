"""`hockney profile`: record what a program communicates and where it waits."""

from __future__ import annotations

from collections.abc import Callable

import typer

from hockney import api
from hockney.options.profile import ProfileOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_time, percent

FEW = 20
"""Rows that the terminal shows; the file has all."""


@verb(
    "profile",
    launches=True,
    examples="""hockney profile -- mpirun -n 4 ./app
hockney profile -o app.json -- srun -n 128 ./app --its-own options
hockney profile --json -- mpiexec -n 8 python program.py""",
)
def profile(options: ProfileOptions, json: JsonOption = False) -> None:
    """Run an MPI program and record what it communicates: a preloaded library only watches.

    By communicator, operation and call site: calls, bytes, time, and the share of blocking collectives spent
    waiting for others. `hockney predict profile.json` predicts the cost on another machine. The exit code is that
    of the launch line.
    """
    answer = api.profile_program(options, quiet=json)
    if json:
        say.json(answer)
    elif answer.profile is not None:
        _show(answer.profile)
        say.line(f"written to {answer.output}")
    if not json and (trace := answer.trace) is not None:
        of = f"{trace.events:,} events of {counted(trace.ranks, 'rank')}, {format_bytes(trace.bytes)}"
        say.line(f"the trace is in {trace.folder}: {of}")
    say.warnings(answer.warnings)
    raise typer.Exit(answer.exit_code)


def _show(profiled: api.Profile) -> None:
    def place(call: api.ProfiledCall) -> str:
        on = profiled.communicators[call.communicator]
        return f"{on.name or '(no name)'}, {on.ranks}" if on.ranks else "–"

    def mean(name: str, write: Callable[[float], str]) -> Callable[[api.ProfiledCall], str]:
        return lambda call: write(getattr(call, name) / profiled.ranks_of(call))

    columns = (
        Column("operation", "operation"),
        Column("communicator", place),
        Column("call site", lambda call: call.site or "–"),
        Column("calls", mean("calls", "{:g}".format), is_number=True),
        Column("bytes", mean("bytes", lambda size_B: format_bytes(round(size_B))), is_number=True),
        Column("time", mean("time_s", format_time), is_number=True),
        Column("waiting", _waiting, is_number=True),
        Column("most", "most_rank_time_s", format_time, is_number=True),
        Column("late", lambda call: f"rank {call.late.rank} ({percent(call.late.share)})" if call.late else "–"),
    )
    title = (
        f"{profiled.ranks} ranks, {format_time(profiled.elapsed_s)}; calls, bytes and times of one rank (mean)"
    )
    say.rows(title, profiled.calls[:FEW], columns)
    if len(profiled.calls) > FEW:
        say.line(f"and {len(profiled.calls) - FEW} more, in the file")


def _waiting(call: api.ProfiledCall) -> str:
    return "–" if call.waiting_s is None or not call.time_s else percent(call.waiting_s / call.time_s)
