"""`hockney check`: performance guidelines that a library violates, and what became slower than it was."""

from __future__ import annotations

from functools import partial

from hockney import api
from hockney.options.check import MANY_LAUNCHES, MOST_ROWS, CheckOptions
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.say import Column
from hockney.terminal.signals import interruptible
from hockney.units import format_bytes


@verb(
    "check",
    examples=f"""
hockney measure --operation collectives --algorithm ours,default --launches {MANY_LAUNCHES} -o c
hockney check c
hockney check c --family-error 2% --guidelines split_in_parts,bcast_as_scatter_and_allgather
hockney check c --confirm c-again
hockney check c --claim 'bcast: S + log P' --claim 'allgather ring: S P + P'
hockney check new --against old --junit check.xml
hockney check after.json --against before.json --json
""",
)
@interruptible()
def check(options: CheckOptions, as_json: JsonOption = False) -> None:
    """Check a library against performance guidelines: no call should take longer than others that do the same.

    A broadcast that takes longer than a scatter and an allgather, a size that takes longer than a larger one, a
    default that takes longer than one of our schedules: each violation is a defect of a library's choices, and
    names what mends it. Calls are compared launch by launch, so that five launches are needed, and more of them
    find smaller factors: the result says how small, and from how many launches on each comparison finds a factor
    of 1.3 with a probability of 95 %.

    Where no guideline is violated, the probability that any is reported is at most --family-error, however many
    are compared (Holm's correction); what launches are too few for, or differ too much for, cannot be told, and
    is no alarm. The same holds, for itself, for what --against finds slower.

    A claim of growth, --claim, is judged by itself: constants are fitted to the times on few ranks, and times on
    many that are beyond what these and the claim allow, by more than chance, violate it from there on.

    Exit code 1: something is violated or slower. With --confirm what a second campaign does not show again does
    not count.
    """
    answer = api.check(options, partial(say.PointsBar, quiet=as_json), say.warn)
    if as_json:
        say.json(answer)
    else:
        _show(answer)
    if not answer.passes:
        answer_no()


def _show(answer: api.CheckAnswer) -> None:
    if violations := answer.violations:
        columns = [
            Column("violated", "guideline"),
            Column("call", lambda finding: finding.call.named()),
            Column("size", lambda finding: format_bytes(finding.bytes) if finding.bytes else ""),
            Column("factor (95 %)", lambda one: _factor(one.factor, one.factor_low, one.factor_high)),
            Column("in its place", "replacement"),
            Column("our schedule", lambda finding: "" if finding.schedule is None else str(finding.schedule)),
            *([Column("measured again", lambda finding: finding.again.verdict)] if violations[0].again else []),
            Column("where", lambda finding: finding.call.where()),
        ]
        say.rows("", violations[:MOST_ROWS], columns)
    for line in answer.guideline_lines:
        say.line(line)
    if answer.tells_nothing:
        say.warn("Nothing can be told of these times: see docs/reference/check.md for what it takes.")
    if answer.against is not None and (slower := answer.against.slower):
        slowest_first = sorted(slower, key=lambda change: -(change.factor or 0.0))
        columns = [
            Column("slower", "where"),
            Column("quantity", "quantity"),
            Column("times as slow (95 %)", lambda change: _factor(change.factor, change.low, change.high)),
        ]
        say.rows("", slowest_first[:MOST_ROWS], columns)
    for line in (*answer.change_lines, *answer.claim_lines):
        say.line(line)


def _factor(factor: float | None, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" ({low:.2f}–{high:.2f})"
    return "" if factor is None else f"{factor:.2f}{interval}"
