"""The section on marked points: which they are, of all kinds of measurements, and what marks each."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.machine.marks import MARKS
from hockney.report.page import Section
from hockney.report.tables import Table

MEANING = "Do not rest a decision on one of these points alone."
MOST_ROWS = 400
"""Most rows of the table; the warning counts all."""


def section(points: Sequence[tuple[str, set[str]]]) -> Section | None:
    """The section; `points` in words, with their marks. None where no point is marked."""
    rows = [[where, ", ".join(mark for mark in MARKS if mark in marks)] for where, marks in points if marks]
    if not rows:
        return None
    result = Section("marked", "Marked points", MEANING)
    result.tables = [Table("Marked points", ["point", "marks"], rows[:MOST_ROWS], frozenset({0, 1}))]
    if len(rows) > MOST_ROWS:
        result.note = f"The first {MOST_ROWS} of {len(rows)} marked points."
    return result
