"""The same measurements in two files: a table made from results that lie beside it, or a table twice."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from hockney.importers._labels import identity
from hockney.records.record import Record

SAME_SHARE = 0.9
"""Least share of equal values, among the points that two files share, at which one file counts as a copy.
Independent runs agree less often, even where they print few digits."""
SAME_VALUE = 1e-9
"""Relative. Conversions of units change the last of sixteen digits."""

Point = tuple[object, ...]


def copied(records: Sequence[Record], others: Iterable[Record]) -> list[Record]:
    """The `records` that are in `others` too, with the same value; none where the files are merely similar.

    The program that measured is not compared, because a table need not name it. Each of `others` has one copy.
    """
    known: dict[Point, list[float]] = defaultdict(list)
    for other in others:
        known[_point(other)].append(other.value)
    points = set(known)
    shared, matches = 0, []
    for record in records:
        point = _point(record)
        shared += point in points
        same = [value for value in known.get(point, ()) if math.isclose(value, record.value, rel_tol=SAME_VALUE)]
        if same:
            known[point].remove(same[0])
            matches.append(record)
    return matches if matches and len(matches) >= SAME_SHARE * shared else []


def _point(record: Record) -> Point:
    return identity(record.model_copy(update={"source": ""}))
