"""Pinning: whether every thread had a core of its own."""

from __future__ import annotations

from hockney.apps.pinning.answer import PinningAnswer
from hockney.apps.pinning.judge import findings, sight
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Contribution, Runs, app_sections, as_data, page_id, readable
from hockney.report.findings import Finding
from hockney.report.page import Section
from hockney.report.run_tables import table


@app_sections.register("pinning")
def pinning(runs: Runs) -> Contribution:
    """A row for each launch; it has no time that a model should explain."""
    meaning = "Where every rank and thread may run and did, looked at while they worked."
    page = Section(page_id("pinning"), "Pinning", meaning, is_application=True)
    contribution = Contribution([page])
    rows = readable(runs.records, _row, page, contribution)
    if rows:
        names = ("ranks", "threads", "mapping", "variant", "MPI", "what is wrong")
        columns = {name: [row[index] for _, row in rows] for index, name in enumerate(names)}
        page.tables.insert(0, table(f"Launches ({len(rows)})", columns, {"variant", "MPI", "what is wrong"}))
        contribution.runs += as_data([record for record, _ in rows])
        contribution.findings += [_finding(record) for record, _ in rows]
    return contribution


def _finding(record: AppRecord) -> Finding:
    """Whether the launch put each thread on a core of its own."""
    seen = sight(record.answer.read_as(PinningAnswer))
    mapping = f", mapping {record.mapping}" if record.mapping else ""
    count = f"{len(seen.threads)} thread{'s' * (len(seen.threads) != 1)}"
    head = f"Pinning on {record.ranks} ranks{mapping}: "
    if wrong := findings(seen):
        more = f"; and {len(wrong) - 1} more, in the table" if len(wrong) > 1 else ""
        return Finding(f"{head}{wrong[0].text}{more}.", page_id("pinning"), 0.8)
    return Finding(
        f"{head}each of {count} kept a core of its own while it was looked at.", page_id("pinning"), 0.6
    )


def _row(record: AppRecord) -> tuple[AppRecord, list[str]]:
    seen = sight(record.answer.read_as(PinningAnswer))
    wrong = " ".join(f"{finding.text}." for finding in findings(seen)) or "nothing"
    return record, [
        str(record.ranks), str(len(seen.threads)), record.mapping, record.variant, record.mpi, wrong
    ]  # fmt: skip
