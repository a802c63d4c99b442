"""`hockney check`: find collectives that break performance guidelines or became slower."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from hockney import api
from hockney.options.check import MANY_LAUNCHES, MOST_ROWS, CheckOptions
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.say import Column
from hockney.terminal.signals import interruptible
from hockney.units import counted, format_bytes, format_time


@verb(
    "check",
    examples=f"""
hockney measure --operation collectives --algorithm ours,default --launches {MANY_LAUNCHES} -o c
hockney check c
hockney check c --family-error 2% --guidelines split_in_parts,bcast_as_scatter_and_allgather
hockney check c --confirm c-again
hockney check new --against old
hockney check after.json --against before.json --json
""",
)
@interruptible()
def check(options: CheckOptions, as_json: JsonOption = False) -> None:
    """Check a library against performance guidelines: no call should take longer than others that do the same.

    A broadcast should not take longer than a scatter and an allgather, nor a size longer than a larger one. Each
    violation is a poor choice of the library, and comes with a replacement. Calls are compared launch by launch:
    five launches are needed, and more launches detect smaller factors.

    The chance of any false alarm is at most --family-error, however many calls are compared (Holm's correction).
    With too few or too variable launches a comparison is undecided, never an alarm. The same holds for --against.

    Exit code 1: something is violated or slower. With --confirm only violations that a second campaign repeats
    count.
    """
    with say.at_end(as_json) as warn:
        answer = api.check(options, partial(say.PointsBar, quiet=as_json), warn)
        if as_json:
            say.json(answer)
        else:
            _show(answer, warn)
    if not answer.passes:
        answer_no()


def _show(answer: api.CheckAnswer, warn: Callable[[str], None]) -> None:
    if answer.against is not None and answer.changes is not None:
        _show_changes(answer.changes, answer.against)
    checked = answer.guidelines_checked
    if checked is not None:
        # Beside a comparison the outcome is enough: the check alone has the rest.
        say.line((checked.outcome, "bold" if answer.against is None else ""))
    if answer.against is None and checked is not None:
        if worst := checked.worst_of_calls:
            columns = [
                Column("call", lambda row: row[0].call.named()),
                Column("size", lambda row: format_bytes(row[0].bytes) if row[0].bytes else ""),
                Column("takes", lambda row: format_time(row[0].time_s), is_number=True),
                Column("in its place", lambda row: _others(row[0].replacement, row[1])),
                Column("takes", lambda row: format_time(row[0].replacement_time_s), is_number=True),
                Column(
                    "factor (95 %)", lambda row: _factor(row[0].factor, row[0].factor_low, row[0].factor_high)
                ),
                Column("our schedule", lambda row: row[0].schedule and str(row[0].schedule)),
                *([Column("again", lambda row: row[0].again.verdict)] if worst[0][0].again else []),
            ]
            where = ", ".join(dict.fromkeys(finding.call.where() for finding, _ in worst[:MOST_ROWS]))
            say.rows(where, worst[:MOST_ROWS], columns)
        for line in checked.lines():
            say.line(line)
        if answer.tells_nothing:
            warn("These times are too few or differ too much to judge: see docs/reference/check.md.")


def _others(replacement: str, count: int) -> str:
    return f"{replacement}, and {counted(count, 'other')}" if count else replacement


def _show_changes(all_changes: api.Changes, against: api.Against) -> None:
    say.line((all_changes.outcome, "bold"))
    for word, changes in (("slower", against.slower), ("faster", against.faster)):
        by_factor = sorted(changes, key=lambda change: -abs(math.log(change.factor or 1.0)))
        columns = [
            Column(word, "where"),
            Column("quantity", "quantity"),
            Column("before", lambda change: _written(change, change.older), is_number=True),
            Column("now", lambda change: _written(change, change.newer), is_number=True),
            Column("now / before (95 %)", lambda change: _factor(change.factor, change.low, change.high)),
        ]
        if by_factor:
            say.rows("", by_factor[:MOST_ROWS], columns)
        if (left := len(by_factor) - MOST_ROWS) > 0:
            say.line(f"and {left} more {word}: `--json` has all")
    for line in all_changes.lines():
        say.line(line)


def _written(change: api.QuantityChange, value: float) -> str:
    return format_time(value) if change.unit == "s" else f"{value:.3g} {change.unit}"


def _factor(factor: float | None, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" ({low:.2f}–{high:.2f})"
    return "" if factor is None else f"{factor:.2f}{interval}"
