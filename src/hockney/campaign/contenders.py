"""Which algorithms of a collective may be the fastest of their cell, so that further visits are worth it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hockney.records.keys import CollectiveKey, Key
from hockney.records.record import Record

FURTHER_VISITS = 6
"""A contested point gets so many visits more, at most."""
EQUAL = 1.05
"""Two algorithms are equal where the 95 % interval of the ratio of their times lies within this factor of 1."""


def contested(done: Mapping[Key, Mapping[int, Record]]) -> Iterator[tuple[CollectiveKey, int]]:
    """Points of collectives that may be the fastest of their operation, ranks and size, and are not told apart.

    These are the rivals of the fastest whose times may be its own and are not equal to it, and itself where it
    has such rivals. A point without an interval is told by nothing, and ranks that share cores tell nothing.
    """
    cells: dict[tuple[CollectiveKey, int], list[tuple[CollectiveKey, Record]]] = {}
    for key, points in done.items():
        if isinstance(key, CollectiveKey):
            for size_B, record in points.items():
                if record.oversubscribed:
                    continue
                cell = replace(key, algorithm="", segment_B=0, radix=0)
                cells.setdefault((cell, size_B), []).append((key, record))
    for (_, size_B), members in cells.items():
        fastest, best = min(members, key=lambda member: member[1].value)
        rivals = [key for key, record in members if key != fastest and _is_open(record, best)]
        if rivals:
            yield from ((key, size_B) for key in (fastest, *rivals))


def _is_open(rival: Record, best: Record) -> bool:
    """Whether further visits might tell which of two is faster, or that they are equal."""
    widths = [_half_width(record) for record in (rival, best)]
    half, apart = math.hypot(*widths), math.log(rival.value / best.value)
    return apart <= half and apart + half > math.log(EQUAL)


def _half_width(record: Record) -> float:
    """Half of the interval of the time's logarithm; infinite where it is not known."""
    if not record.low or not record.high:
        return math.inf
    return math.log(record.high / record.low) / 2
