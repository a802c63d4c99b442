"""How times go with the references of their level: T ∝ reference^e, an exponent e for each size of a series.

Within a level the machine still drifts by some percent from minute to minute, as the frequency of a processor
does. The reference is a small message itself, so that small messages drift as it does (e near 1). Where memory
keeps its pace, large ones drift less; where it drifts, they drift more. An exponent is the slope of ln(time) over
ln(reference) of visits, both less those of their point, over the sizes within a factor of `NEAR`. References have
noise of their own, which flattens a slope: what of their scatter is drift, the scatter within a visit tells
(Fuller, Measurement Error Models, 1987, section 1.1). Where references hardly moved the visits say little, and a
value for memory that keeps its pace in part (`PRIOR` ± `PRIOR_SPREAD`) weighs more, as in a ridge regression
(Hoerl and Kennard, 1970); the exponent's error says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from hockney.records.levels import LEAST_RATIO, Array
from hockney.records.record import Record
from hockney.records.series import size_place
from hockney.records.visits import SUBTRACTED, Levels, at, ranks_of, visit_times
from hockney.statistics import MEDIAN_FACTOR

NEAR = 4.0
PRIOR, PRIOR_SPREAD = 0.5, 0.5
MOST = 2.0
"""Where caches and memory become slower, and not the processor, large messages move more than the reference:
twice as much in five campaigns of one virtual machine (references of 0.306 to 0.335 µs)."""

MOST_OFF = math.log(LEAST_RATIO)
"""A visit further from its point counts as if it were this far: that is no drift within a level."""


@dataclass(frozen=True)
class Exponent:
    """The exponent of a size, from 0 to `MOST`, and its standard error, at most `PRIOR_SPREAD`."""

    value: float
    error: float


@dataclass(frozen=True)
class _Visits:
    """Visits, shape (n,): where the size lies; ln(time) and ln(reference), less those of the point; and the
    variance of the latter that is noise."""

    place: Array
    time: Array
    reference: Array
    noise: Array


def reference_exponents(records: Sequence[Record], levels: Levels) -> dict[int, Exponent]:
    """The exponent of each size in bytes; records of one series, or of one on several like pairs.

    Empty where no point has two visits with references at one level of its ranks, and for times that are a
    difference of two.
    """
    visits = _visits(records, levels)
    exponents = {}
    for size_B in sorted({record.bytes for record in records}):
        is_near = np.abs(visits.place - size_place(size_B)) <= math.log(NEAR) + 1e-9
        if is_near.any():
            exponents[size_B] = _exponent(
                *(each[is_near] for each in (visits.time, visits.reference, visits.noise))
            )
    return exponents


def _exponent(time: Array, reference: Array, noise: Array) -> Exponent:
    moved, together = float(reference @ reference), float(time @ reference)
    if moved == 0:
        return Exponent(PRIOR, PRIOR_SPREAD)
    drift = max(0.0, 1 - float(noise.sum()) / moved)  # of what references moved
    # What one visit tells has this variance, and so has what was believed before, `PRIOR_SPREAD` wide.
    variance = float(np.mean((time - together / moved * reference) ** 2))
    known, prior = drift**2 * moved, variance / PRIOR_SPREAD**2
    if known + prior == 0:
        return Exponent(PRIOR, PRIOR_SPREAD)
    value = (drift * together + PRIOR * prior) / (known + prior)
    return Exponent(min(max(value, 0.0), MOST), min(math.sqrt(variance / (known + prior)), PRIOR_SPREAD))


def _visits(records: Sequence[Record], levels: Levels) -> _Visits:
    points: dict[object, list[tuple[float, float, float, float]]] = {}
    for record in records:
        if record.oversubscribed or record.verified is False or record.operation in SUBTRACTED:
            continue
        for place, level in enumerate(levels.get(ranks_of(record), ())):
            logs = [math.log(each) for each in record.reference_s if level.holds(each)]
            for time_s in visit_times([record], levels, at(place)) if logs else []:
                noise = MEDIAN_FACTOR**2 * float(np.var(logs, ddof=1)) / len(logs) if len(logs) > 1 else 0.0
                visit = (float(size_place(record.bytes)), math.log(time_s), median(logs), noise)
                points.setdefault((place, ranks_of(record), record.bytes), []).append(visit)
    rows = [
        (place, time - middle_time, reference - middle_reference, noise)
        for visits in points.values()
        if len(visits) > 1
        for _, middle_time, middle_reference, _ in [[median(column) for column in zip(*visits, strict=True)]]
        for place, time, reference, noise in visits
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return _Visits(columns[:, 0], np.clip(columns[:, 1], -MOST_OFF, MOST_OFF), columns[:, 2], columns[:, 3])
