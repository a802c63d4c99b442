"""How times go with the references of their level: T ∝ reference^e, an exponent e for each size of a series.

Within a level the machine still drifts by some percent from minute to minute, as the frequency of a processor
does. The reference is a small message itself, so that small messages drift as it does (e near 1); memory keeps
its pace, and large ones drift less. An exponent is the slope of ln(time) over ln(reference) of visits, both less
those of their point, over the sizes within a factor of `NEAR`; where references hardly moved, that says little,
and a value between the two (`PRIOR` ± `PRIOR_SPREAD`) weighs more, as in a ridge regression (Hoerl and Kennard,
1970).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from hockney.records.levels import LEAST_RATIO, Array, Level
from hockney.records.record import Record
from hockney.records.visits import SUBTRACTED, Levels, at, ranks_of, visit_times

NEAR = 4.0
PRIOR, PRIOR_SPREAD = 0.5, 0.5

MOST_OFF = math.log(LEAST_RATIO)
"""A visit further from its point counts as if it were this far: that is no drift within a level."""


@dataclass(frozen=True)
class _Visits:
    """Visits, shape (n,): where the size lies; ln(time) and ln(reference), less those of the point."""

    place: Array
    time: Array
    reference: Array


def reference_exponents(records: Sequence[Record], levels: Levels) -> dict[int, float]:
    """The exponent, from 0 to 1, of each size in bytes; records of one series, or of one on several like pairs.

    Empty where no point has two visits with references at one level of its ranks, and for times that are a
    difference of two.
    """
    visits = _visits(records, levels)
    if visits.place.size == 0:
        return {}
    exponents = {}
    for size_B in sorted({record.bytes for record in records}):
        is_near = np.abs(visits.place - _place(size_B)) <= math.log(NEAR) + 1e-9
        time, reference = visits.time[is_near], visits.reference[is_near]
        if time.size:
            exponents[size_B] = _exponent(time, reference)
    return exponents


def _exponent(time: Array, reference: Array) -> float:
    moved, together = float(reference @ reference), float(time @ reference)
    if moved == 0:
        return PRIOR
    noise = float(np.mean((time - together / moved * reference) ** 2)) / PRIOR_SPREAD**2
    return min(max((together + PRIOR * noise) / (moved + noise), 0.0), 1.0)


def _visits(records: Sequence[Record], levels: Levels) -> _Visits:
    points: dict[object, list[tuple[int, float, float]]] = {}
    for record in records:
        if record.oversubscribed or record.verified is False or record.operation in SUBTRACTED:
            continue
        for place, level in enumerate(levels.get(ranks_of(record), ())):
            reference_s = _reference_s(record, level)
            for time_s in visit_times([record], levels, at(place)) if reference_s else []:
                point = (place, ranks_of(record), record.bytes)
                points.setdefault(point, []).append((record.bytes, math.log(time_s), math.log(reference_s)))
    rows = [
        (_place(size_B), time - middle[1], reference - middle[2])
        for visits in points.values()
        if len(visits) > 1
        for middle in [[median(column) for column in zip(*visits, strict=True)]]
        for size_B, time, reference in visits
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return _Visits(columns[:, 0], np.clip(columns[:, 1], -MOST_OFF, MOST_OFF), columns[:, 2])


def _reference_s(record: Record, level: Level) -> float:
    """The median of a visit's references that lie in the level; 0 without any."""
    there = [reference_s for reference_s in record.reference_s if level.holds(reference_s)]
    return median(there) if there else 0.0


def _place(size_B: int) -> float:
    return math.log(max(size_B, 0.5))
