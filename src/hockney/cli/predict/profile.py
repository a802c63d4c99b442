"""`hockney predict profile`: the communication of a program on another machine."""

from __future__ import annotations

from rich.table import Table

from hockney.predict.profile_options import ProfileCase
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted, format_bytes, format_time

with later():
    from hockney.predict.profile import Elsewhere, Row, elsewhere
    from hockney.records.profile import load

FEW = 20
"""Rows that the terminal shows; --json has all."""


@verb(
    "profile",
    examples="""hockney predict profile.json --ranks 4096 --machine bluegene_p
hockney predict profile profile.json --machine machine.json --json
hockney predict profile.json --ranks 512 --system orfeo-epyc --mapping core""",
    of=predict,
)
def profile(case: ProfileCase, json: JsonOption = False) -> None:
    """What the communication of a profile would cost on another machine, and which algorithms would pay there.

    Each size of each collective is predicted by what the profile's MPI chooses by itself, where that is known,
    and by the best algorithm. Communicators of all ranks grow to --ranks; sizes and numbers of calls stay.
    """
    answer = elsewhere(load(case.file), case)
    if json:
        say.json(answer.model_dump())
        return
    _show(answer)
    for warning in answer.warnings:
        say.warn(warning)


def _show(answer: Elsewhere) -> None:
    shown = Table(title=f"on {counted(answer.ranks, 'rank')}; times of a rank", box=None)
    mpi = answer.mpi or "the profile's MPI"
    for heading in ("operation", "call site", "ranks", "calls", "measured", "predicted", "at best"):
        shown.add_column(heading, justify="left" if heading in ("operation", "call site") else "right")
    for row in [row for row in answer.rows if row.time_s is not None][:FEW]:
        times = [format_time(row.measured_s), _predicted(row), format_time(row.best_s or 0.0)]
        shown.add_row(row.operation, row.site or "–", str(row.ranks), f"{row.calls_of_a_rank:g}", *times)
    sums = [format_time(answer.measured_s), _predicted(answer), format_time(answer.best_s)]
    shown.add_row("all that is predicted", "", "", "", *sums)
    say.table(shown)
    left_out = [row for row in answer.rows if row.time_s is None]
    if left_out:
        names = ", ".join(sorted({row.operation for row in left_out}))
        say.line(f"not predicted, {format_time(sum(row.measured_s for row in left_out))} measured: {names}")
    for change in answer.changes[:FEW]:
        what = f"{change.operation} of {format_bytes(change.bytes)} on {counted(change.ranks, 'rank')}"
        how = f"by {change.algorithm} instead of {change.instead_of}"
        say.line(f"{what} {how} would save {format_time(change.saved_s)} ({change.factor:.1f} times as fast)")
    if answer.unknown_s:
        say.line(f"? what {mpi} would choose is not known: the best algorithm stands for it")
    if not answer.changes and answer.unknown_s < answer.time_s:
        known = " where the library's own choice is known" if answer.unknown_s else ""
        say.line(f"no other algorithm is predicted to be clearly faster{known}")


def _predicted(row: Row | Elsewhere) -> str:
    """The time, its interval if there is one, and a mark where the library's own choice is not known."""
    text = format_time(row.time_s or 0.0)
    if row.interval:
        text += f" ({format_time(row.interval.low_s)} to {format_time(row.interval.high_s)})"
    return f"{text} ?" if row.unknown_s else text
