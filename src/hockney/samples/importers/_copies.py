"""The same measurements in two files: a table made from results that lie beside it, or a table twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hockney.campaign.record import Record
from hockney.samples.importers._labels import identity

SAME_SHARE = 0.9
"""Of the points that two files share, so many values are equal if one is a copy. Independent runs agree in fewer,
though they print few digits."""
DIGITS = 10
"""Conversions of units change the last of sixteen."""

Point = tuple[object, ...]


def copied(records: Sequence[Record], others: Iterable[Record]) -> list[Record]:
    """Those of `records` that are in `others` too, with the same value; none where the files only resemble.

    The program that measured is left aside: a table need not tell it. Each of `others` stands for one copy.
    """
    known = Counter(_valued(record) for record in others)
    points = {point for point, _ in known}
    shared = sum(_point(record) in points for record in records)
    found = []
    for record in records:
        if known[_valued(record)]:
            known[_valued(record)] -= 1
            found.append(record)
    return found if found and len(found) >= SAME_SHARE * shared else []


def _point(record: Record) -> Point:
    return identity(record.model_copy(update={"source": ""}))


def _valued(record: Record) -> tuple[Point, str]:
    return _point(record), f"{record.value:.{DIGITS - 1}e}"
