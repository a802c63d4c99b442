"""How times go with the references of their level, for each size of a series: T ∝ s^e · (l/s)^f.

Within a level the machine still drifts by some percent from minute to minute, as the frequency of a processor
does, and caches and memory drift by other percents than it. Two references see both: s, a short message, and l,
one of `LARGE_B` timed right after it. A message up to `SHORT_B` goes with the short one (e = 1, f = 0), one of
`LARGE_B` and more with the large one (e = f = 1), and what lies between by its place between them (`PRIORS`).
Where no large message was timed it is not known what memory did: f = 0, and e lies around a half.

The visits correct this. Exponents are the slopes of ln(time) over ln(s) and ln(l/s) of visits, all less those of
their point, over the sizes within a factor of `NEAR`. References have noise of their own, which flattens a slope:
what of their scatter is drift, the scatter within a visit tells (Fuller, Measurement Error Models, 1987, section
1.1). Where references hardly moved the visits say little, and what was believed before weighs more, as in a ridge
regression (Hoerl and Kennard, 1970); the exponents' errors say so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.records.levels import LEAST_RATIO, Array
from hockney.records.record import Record
from hockney.records.series import size_place
from hockney.records.visits import SUBTRACTED, Levels, at, ranks_of, visit_times
from hockney.statistics import MEDIAN_FACTOR

NEAR = 4.0
SHORT_B, LARGE_B = 1024, 65536

PRIOR, PRIOR_SPREAD = 0.5, 0.5
"""Of e where no large message was timed, and of how the large reference goes with the short one."""
BOTH_SPREADS = (0.1, 0.25)
"""Of e and f where both references are known."""
MOST = 2.0
"""Where caches and memory become slower, and not the processor, large messages move more than the reference:
twice as much in five campaigns of one virtual machine (references of 0.306 to 0.335 µs)."""

MOST_OFF = math.log(LEAST_RATIO)
"""A visit further from its point counts as if it were this far: that is no drift within a level."""


@dataclass(frozen=True)
class Exponents:
    """Of a size: `value` is e, `large` is f, both from 0 to `MOST`, each with its standard error.

    `large` is None where no large message was timed.
    """

    value: float
    error: float
    large: float | None = None
    large_error: float | None = None

    def moved(self, short: float, large: float | None) -> tuple[float, float]:
        """By how much ln(time) moves where ln(s) moves by `short` and ln(l) by `large`, and its standard error.

        `large` None: not known; l goes with s as times do of which nothing is known.
        """
        apart = short * (PRIOR - 1) if large is None else large - short
        f, f_error = self.large or 0.0, self.large_error or 0.0
        unknown = f * short * PRIOR_SPREAD if large is None else 0.0
        error = math.hypot(self.error * short, f_error * apart, unknown)
        return self.value * short + f * apart, error


def prior(size_B: int, *, has_large: bool) -> tuple[Array, Array]:
    """What is believed of the exponents of a size before its visits are seen, and how far that may be off.

    Shape (2,) with the large reference, (1,) without it.
    """
    if not has_large:
        return np.array([PRIOR]), np.array([PRIOR_SPREAD])
    place = math.log(max(size_B, SHORT_B) / SHORT_B) / math.log(LARGE_B / SHORT_B)
    return np.array([1.0, min(place, 1.0)]), np.array(BOTH_SPREADS)


@dataclass(frozen=True)
class _Visits:
    """Visits, shape (n,): where the size lies, and ln(time) less that of the point.

    `references`, shape (n, 2): ln(s) and ln(l/s), less those of the point; `noise`: what of the variance of each
    is noise. The second columns are NaN without a large reference.
    """

    place: Array
    time: Array
    references: Array
    noise: Array


def reference_exponents(records: Sequence[Record], levels: Levels) -> dict[int, Exponents]:
    """The exponents of each size in bytes; records of one series, or of one on several like pairs.

    Empty where no point has two visits with references at one level of its ranks, and for times that are a
    difference of two.
    """
    visits = _visits(records, levels)
    exponents = {}
    for size_B in sorted({record.bytes for record in records}):
        is_near = np.abs(visits.place - size_place(size_B)) <= math.log(NEAR) + 1e-9
        if is_near.any():
            exponents[size_B] = _exponents(
                size_B, *(each[is_near] for each in (visits.time, visits.references, visits.noise))
            )
    return exponents


def _exponents(size_B: int, time: Array, references: Array, noise: Array) -> Exponents:
    known = ~np.isnan(references).any(axis=0)
    centre, spread = prior(size_B, has_large=bool(known.all()))
    seen = references[:, known]
    moved = (seen**2).sum(axis=0)
    # The share of what references moved that is drift.
    drift = np.clip(
        1 - np.divide(noise[:, known].sum(axis=0), moved, out=np.ones_like(moved), where=moved > 0), 0, 1
    )
    slopes, *_ = np.linalg.lstsq(seen, time, rcond=None)
    # What one visit tells has this variance, and what was believed before those of `spread`.
    variance = float(np.mean((time - seen @ slopes) ** 2))
    drifted = seen * drift
    weights = np.linalg.pinv(drifted.T @ drifted + variance * np.diag(spread**-2))
    value = np.clip(centre + weights @ drifted.T @ (time - drifted @ centre), 0.0, MOST)
    error = np.where(moved * drift > 0, np.minimum(np.sqrt(variance * np.diag(weights)), spread), spread)
    of_large = (float(value[1]), float(error[1])) if known.all() else (None, None)
    return Exponents(float(value[0]), float(error[0]), *of_large)


def _visits(records: Sequence[Record], levels: Levels) -> _Visits:
    points: dict[object, list[list[float]]] = {}
    for record in records:
        if record.oversubscribed or record.verified is False or record.operation in SUBTRACTED:
            continue
        for place, level in enumerate(levels.get(ranks_of(record), ())):
            is_there = [level.holds(each) for each in record.reference_s]
            for time_s in visit_times([record], levels, at(place)) if any(is_there) else []:
                short = np.log(np.array(record.reference_s)[is_there])
                apart = (
                    np.log(np.array(record.large_reference_s)[is_there]) - short
                    if record.large_reference_s
                    else None
                )
                row = [float(size_place(record.bytes)), math.log(time_s), *_middle(short), *_middle(apart)]
                points.setdefault((place, ranks_of(record), record.bytes), []).append(row)
    several = [np.array(visits) for visits in points.values() if len(visits) > 1]
    for visits in several:
        visits[:, [1, 2, 4]] -= np.median(visits[:, [1, 2, 4]], axis=0)
    rows = np.concatenate([np.empty((0, 6)), *several])
    return _Visits(rows[:, 0], np.clip(rows[:, 1], -MOST_OFF, MOST_OFF), rows[:, [2, 4]], rows[:, [3, 5]])


def _middle(logs: Array | None) -> tuple[float, float]:
    """The median of logarithms, and the variance of that; NaN where there are none."""
    if logs is None:
        return math.nan, math.nan
    return float(np.median(logs)), MEDIAN_FACTOR**2 * float(
        np.var(logs, ddof=1)
    ) / logs.size if logs.size > 1 else 0.0
