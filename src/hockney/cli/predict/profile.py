"""`hockney predict profile`: the communication of a program on another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hockney import api
from hockney.cli.predict import predict
from hockney.cli.predict._run import show_run, show_runs
from hockney.options.predict import ProfileCase
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_interval, format_time

FEW = 20
"""Rows that the terminal shows; --json has all."""
SLOW = 2
"""A transfer that takes so many times its prediction has another cause than the model's error."""


@verb(
    "profile",
    examples="""hockney predict profile.json --ranks 4096 --machine bluegene_p
hockney predict profile profile.json --machine machine.json --json
hockney predict profile.json --ranks 512 --system orfeo-epyc --mapping core
hockney predict heat.json --machine here.json,there.json --algorithm allreduce=ring --compute 0.8""",
    of=predict,
)
def profile(case: ProfileCase, json: JsonOption = False) -> None:
    """How long a recorded run takes on another machine; of a profile alone, what its communication costs there.

    A run whose trace lies beside the profile is replayed call by call. The answer has its critical path, its
    waiting, and how much latency and how narrow a bandwidth it tolerates. Several machines, systems, mappings or
    rules make a table. Of a profile without a trace calls are added up, by the choice of the profile's MPI and
    by the best algorithm. Communicators of all ranks grow to --ranks; sizes and numbers of calls stay.
    """
    answer = api.predict_profile(case)
    if json:
        say.json(answer)
    elif isinstance(answer, api.PredictedRuns):
        show_runs(answer)
    elif isinstance(answer, api.PredictedRun):
        show_run(answer)
    else:
        _show(answer)
        say.warnings(answer.warnings)


def _show(answer: api.PredictedProfile) -> None:
    mpi = answer.mpi or "the profile's MPI"
    rows = [row for row in answer.rows if row.time_s is not None][:FEW]
    on = "with waiting" if answer.ranks == answer.profiled_ranks else f"on {answer.profiled_ranks}, with waiting"
    say.line(
        (
            f"Communication takes {format_time(answer.time_s)} on each of {counted(answer.ranks, 'rank')}. "
            f"The profile measured {format_time(answer.measured_s)} {on}.",
            "bold",
        )
    )
    say.rows("calls and times of one rank (mean)", [*rows, answer], COLUMNS)
    for line in _gap(answer):
        say.line(line)
    left_out = [row for row in answer.rows if row.time_s is None]
    if left_out:
        names = ", ".join(sorted({row.operation for row in left_out}))
        say.line(f"not predicted, {format_time(sum(row.measured_s for row in left_out))} measured: {names}")
    for change in answer.changes[:FEW]:
        what = f"{change.operation} of {format_bytes(change.bytes)} on {counted(change.ranks, 'rank')}"
        how = f"by {change.algorithm} instead of {change.instead_of}"
        say.line(f"{what} {how} would save {format_time(change.saved_s)} ({change.factor:.1f} times as fast)")
    if answer.unknown_s:
        say.line(f"? {mpi}'s choice is unknown: the fastest algorithm is shown")
    if not answer.changes and answer.unknown_s < answer.time_s:
        known = " where the library's own choice is known" if answer.unknown_s else ""
        say.line(f"no other algorithm is predicted to be clearly faster{known}")


def _gap(answer: api.PredictedProfile) -> Iterator[str]:
    """Where the measured time goes that is not predicted, a line each; nothing where less was measured."""
    if answer.measured_s <= answer.time_s:
        return
    rows = [row for row in answer.rows if row.time_s is not None]
    unseen = [row for row in rows if row.waiting_s is None]
    if answer.waiting_s:
        of = f"{format_time(answer.waiting_s)} of {format_time(answer.measured_s)}"
        yield f"{of} is waiting for other ranks: not modelled"
    if unseen:
        names = ", ".join(sorted({row.operation for row in unseen}))
        time_s = sum(row.measured_s for row in unseen)
        yield f"{format_time(time_s)} is in {names}, which may hold waiting too: not seen apart"
    moved_s = sum(row.measured_s - row.waiting_s for row in rows if row.waiting_s is not None)
    if len(unseen) < len(rows):
        time_s = sum(row.time_s or 0.0 for row in rows if row.waiting_s is not None)
        text = f"{format_time(moved_s)} is transfer in collectives, {format_time(time_s)} predicted"
        is_slower = answer.ranks == answer.profiled_ranks and moved_s > SLOW * time_s
        yield f"{text}: ranks lost their core, or computed in it" if is_slower else text


def _predicted(row: api.PredictedCalls | api.PredictedProfile) -> str:
    """The time, its interval if there is one, and a mark where the library's own choice is not known."""
    text = format_time(row.time_s or 0.0)
    if row.interval:
        text += f" ({format_interval(row.interval.low_s, row.interval.high_s)})"
    return f"{text} ?" if row.unknown_s else text


def _of_calls(name: str, write: Callable[[Any], str] = str) -> Callable[[object], str]:
    """What a row says of its calls; nothing in the sum of all."""
    return lambda row: write(getattr(row, name)) if hasattr(row, "operation") else ""


COLUMNS = (
    Column("operation", lambda row: getattr(row, "operation", "all that is predicted")),
    Column("call site", _of_calls("site", lambda site: site or "–")),
    Column("ranks", _of_calls("ranks"), is_number=True),
    Column("calls", _of_calls("calls_of_a_rank", "{:g}".format), is_number=True),
    Column("measured", "measured_s", format_time, is_number=True),
    Column("predicted", _predicted, is_number=True),
    Column("at best", "best_s", format_time, is_number=True),
)
