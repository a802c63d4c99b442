"""Pinning: whether every thread had a core of its own."""

from __future__ import annotations

from hockney.apps.pinning.answer import PinningAnswer
from hockney.apps.pinning.app import APP
from hockney.apps.pinning.judge import PinningFinding, Sight, findings, sight
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Contribution, Runs, as_data, page_id, readable
from hockney.report.findings import Finding
from hockney.report.page import Section
from hockney.report.run_tables import Column, table
from hockney.units import counted

ANCHOR = page_id("pinning")
Row = tuple[AppRecord, Sight, list[PinningFinding]]
"""A launch, what was seen, and what is wrong."""


def section(runs: Runs) -> Contribution:
    """A row for each launch; it has no time that a model should explain."""
    page = Section(ANCHOR, APP.title, APP.meaning, is_application=True)
    contribution = Contribution([page])
    rows = readable(runs.records, _row, page, contribution)
    if rows:
        columns: list[Column[Row]] = [
            Column("ranks", lambda row: str(row[0].ranks)),
            Column("threads", lambda row: str(len(row[1].threads))),
            Column("mapping", lambda row: row[0].mapping),
            Column("variant", lambda row: row[0].variant, is_text=True),
            Column("MPI", lambda row: row[0].mpi, is_text=True),
            Column(
                "what is wrong",
                lambda row: " ".join(f"{wrong.text}." for wrong in row[2]) or "nothing",
                is_text=True,
            ),
        ]
        page.tables.insert(0, table(f"Launches ({len(rows)})", rows, columns))
        contribution.runs += as_data([record for record, _, _ in rows])
        contribution.findings += [_finding(*row) for row in rows]
    return contribution


def _row(record: AppRecord) -> Row:
    seen = sight(record.answer.read_as(PinningAnswer))
    return record, seen, findings(seen)


def _finding(record: AppRecord, seen: Sight, wrong: list[PinningFinding]) -> Finding:
    """Whether the launch put each thread on a core of its own."""
    mapping = f", mapping {record.mapping}" if record.mapping else ""
    head = f"Pinning on {counted(record.ranks, 'rank')}{mapping}: "
    if wrong:
        more = f"; and {len(wrong) - 1} more, in the table" if len(wrong) > 1 else ""
        return Finding(f"{head}{wrong[0].text}{more}.", ANCHOR, 0.8, verdict="bad")
    text = f"{head}each of {counted(len(seen.threads), 'thread')} kept a core of its own while it was looked at."
    return Finding(text, ANCHOR, 0.6, verdict="good")
