"""`hockney predict profile.json`: the communication of a program on another machine."""

from __future__ import annotations

from rich.table import Table

from hockney.predict.profile_options import ProfileCase
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time

with later():
    from hockney.predict.profile import Elsewhere, elsewhere
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
    shown = Table(title=f"on {answer.ranks} ranks; times of a rank", box=None)
    for heading in ("operation", "call site", "ranks", "calls", "measured", "predicted", "at best"):
        shown.add_column(heading, justify="left" if heading in ("operation", "call site") else "right")
    for row in [row for row in answer.rows if row.time_s is not None][:FEW]:
        times = [format_time(time_s) for time_s in (row.measured_s, row.time_s or 0.0, row.best_s or 0.0)]
        shown.add_row(row.operation, row.site or "–", str(row.ranks), f"{row.calls_of_a_rank:g}", *times)
    sums = [format_time(time_s) for time_s in (answer.measured_s, answer.time_s, answer.best_s)]
    shown.add_row("all that is predicted", "", "", "", *sums)
    say.table(shown)
    left_out = [row for row in answer.rows if row.time_s is None]
    if left_out:
        names = ", ".join(sorted({row.operation for row in left_out}))
        say.line(f"not predicted, {format_time(sum(row.measured_s for row in left_out))} measured: {names}")
    for change in answer.changes[:FEW]:
        what = f"{change.operation} of {format_bytes(change.bytes)} on {change.ranks} ranks"
        how = f"by {change.algorithm} instead of {change.instead_of}"
        say.line(f"{what} {how} would save {format_time(change.saved_s)} ({change.factor:.1f} times as fast)")
    if not answer.changes:
        say.line("no other algorithm is predicted to be clearly faster")
