"""The result of a check as tables and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hockney.check.advised import MANY_LAUNCHES
from hockney.check.against import Changes
from hockney.check.confirm import Confirmation
from hockney.check.judge import LEAST_LAUNCHES
from hockney.check.power import FACTOR, FOUND, MOST_FACTOR, MOST_LAUNCHES, Power
from hockney.check.study import Finding, Study
from hockney.units import format_bytes, format_time

MOST_ROWS = 40
"""Rows that a person looks at; `--json` has all."""


def study_text(study: Study, confirmation: Confirmation | None) -> tuple[Table | None, str]:
    """The violations as a table, None without any, and what there is to say beside it."""
    violations = study.violations
    shown = None
    if violations:
        again = ["measured again"] if confirmation else []
        shown = _table(
            "violated", ["call", "size", "factor (95 %)", "in its place", "our schedule", *again], "where"
        )
        for finding in violations[:MOST_ROWS]:
            verdict = [confirmation.verdict(finding)] if confirmation else []
            size_B = finding.bound.slow.size_B
            mend = (
                "" if finding.mend is None else f"{finding.mend.algorithm_words()}, {format_time(finding.mend_s)}"
            )
            row = [
                *(finding.guideline, finding.call.named(), format_bytes(size_B) if size_B else ""),
                *(_factor(finding), finding.replacement(), mend, *verdict, finding.call.where()),
            ]
            shown.add_row(*map(Text, row))
    lines = [_more(len(violations))] if len(violations) > MOST_ROWS else []
    counts = study.counts
    lines.append(
        f"{len(study.findings)} comparisons by {len(counts)} guidelines over {study.launches} "
        f"launch{'es' if study.launches > 1 else ''}: {len(violations)} violated by a factor above "
        f"{study.least_factor:g}, {len(study.of('kept'))} kept, {len(study.of('cannot be told'))} cannot be told"
    )
    if any(finding.p is not None for finding in study.findings):
        lines.append(
            f"if all guidelines were kept, a check would raise any alarm with a probability of at most "
            f"{study.family_error:.2g} (Holm)"
        )
    if study.power is not None:
        lines += _power(study.power)
    if few := sum(finding.launches < LEAST_LAUNCHES for finding in study.findings):
        many = f"; {MANY_LAUNCHES} find most factors of {FACTOR:g}" if study.least_factor < FACTOR else ""
        lines.append(
            f"{few} were timed in fewer than {LEAST_LAUNCHES} launches, which tell nothing{many}: "
            f"`hockney measure --launches {MANY_LAUNCHES} …`"
        )
    if study.left_out:
        lines.append(f"{study.left_out} points left out: no launch met them at the level that is compared")
    if study.of_other_statistics:
        lines.append(
            f"not compared where they were timed by another statistic than the rest: "
            f"{', '.join(study.of_other_statistics)}"
        )
    if confirmation:
        counted = [
            f"{len(confirmation.of(verdict))} {verdict}"
            for verdict in ("confirmed", "not confirmed", "not told by the second campaign")
            if confirmation.of(verdict)
        ]
        lines.append(f"measured again: {', '.join(counted)}")
        reasons = dict.fromkeys(filter(None, map(confirmation.why, violations)))
        lines += [f"  not told: {reason}" for reason in reasons]
    return shown, "\n".join(lines)


def changes_text(changes: Changes) -> tuple[Table | None, str]:
    """What is slower as a table, None without anything, and what there is to say beside it."""
    slower = sorted(changes.of("slower"), key=lambda change: -(change.factor or 0.0))
    shown = None
    if slower:
        shown = _table("slower", ["quantity", "times as slow (95 %)"], "")
        for change in slower[:MOST_ROWS]:
            interval = (
                "" if change.low is None or change.high is None else f" ({change.low:.2f}–{change.high:.2f})"
            )
            shown.add_row(*map(Text, (change.where, change.quantity, f"{change.factor:.2f}{interval}")))
    lines = [_more(len(slower))] if len(slower) > MOST_ROWS else []
    lines.append(
        f"{len(changes.changes)} compared with the older: {len(slower)} slower, {len(changes.of('not slower'))} "
        f"not slower, {len(changes.of('cannot be told'))} cannot be told"
    )
    if wide := sum(not change.why for change in changes.of("cannot be told")):
        lines.append(
            f"{wide} were judged, but what differs from launch to launch, or what the machine moves by itself, "
            "hides so small a change: more launches on both sides tell more"
        )
    reasons = dict.fromkeys(change.why for change in changes.changes if change.why)
    lines += [f"not judged: {reason}" for reason in reasons]
    if changes.missing:
        lines.append(f"only in the older: {'; '.join(changes.missing[:MOST_ROWS])}")
    return shown, "\n".join(lines)


def _power(found: Power) -> Iterator[str]:
    """What would have been found, and what it takes to find a factor in each comparison."""
    yield (
        f"a true factor is found with a probability of {FOUND:.0%} from {_any(found.median_factor)} on in the "
        f"median comparison, from {_any(found.worst_factor)} on in the worst"
    )
    if found.found_share is None:
        return
    takes = f"more than {MOST_LAUNCHES:,}" if found.launches is None else f"about {found.launches:,}"
    yield (
        f"a factor of {FACTOR:g} is found in {100 * found.found_share:.3g} of 100 comparisons; "
        f"each finds it with {FOUND:.0%} from {takes} launches on"
    )


def _any(factor: float | None) -> str:
    return f"more than {MOST_FACTOR:g}" if factor is None else f"{factor:.2f}"


def _table(first: str, columns: list[str], last: str) -> Table:
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in filter(None, [first, *columns, last]):
        shown.add_column(name, overflow="fold")
    return shown


def _more(count: int) -> str:
    return f"and {count - MOST_ROWS} more: `--json` has all"


def _factor(finding: Finding) -> str:
    interval = "" if finding.low is None or finding.high is None else f" ({finding.low:.2f}–{finding.high:.2f})"
    return "" if finding.factor is None else f"{finding.factor:.2f}{interval}"
