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

from hockney.records.levels import LEAST_RATIO, MOST_DRIFT, MOST_EXPONENT, Array
from hockney.records.record import Record
from hockney.records.series import size_place
from hockney.records.visits import SUBTRACTED, Levels, at, ranks_of, visit_times
from hockney.statistics import MEDIAN_FACTOR

NEAR = 4.0
REFERENCE_B, SHORT_B, LARGE_B = 8, 1024, 65536

PRIOR, PRIOR_SPREAD = 0.5, 0.5
"""Of e where no large message was timed, and of how the large reference goes with the short one."""
E_SPREAD, F_SPREAD = 0.1, 0.25
"""Of e of a short message and of f where both references are known; e of `LARGE_B` is as sure as f."""

MOST_OFF = math.log(LEAST_RATIO)
"""A visit further from what is believed of its exponents counts as if it were this far: it was disturbed."""


@dataclass(frozen=True)
class Exponents:
    """Of a size: `value` is e, `large` is f, both from 0 to `MOST_EXPONENT`, each with its standard error.

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

    Shape (2,) with the large reference, (1,) without it. What lies farther from the short one is less sure to go
    with the two together, and beyond the large one it lies far from both.
    """
    if not has_large:
        return np.array([PRIOR]), np.array([PRIOR_SPREAD])
    place = math.log(max(size_B, SHORT_B) / SHORT_B) / math.log(LARGE_B / SHORT_B)
    return np.array([1.0, min(place, 1.0)]), np.array([E_SPREAD + place * (F_SPREAD - E_SPREAD), F_SPREAD])


@dataclass(frozen=True)
class _Visits:
    """Visits, shape (n,): where the size lies, and ln(time) less that of the point.

    `references`, shape (n, 2): ln(s) and ln(l), less those of the point; `noise`: what of the variance of each is
    noise. The second columns are NaN without a large reference.
    """

    place: Array
    time: Array
    references: Array
    noise: Array


def reference_exponents(records: Sequence[Record], levels: Levels) -> dict[int, Exponents]:
    """The exponents of each size in bytes; records of one series, or of one on several like pairs.

    Empty where no point has two visits with references at one level of its ranks, and for times that are a
    difference of two. Without the large one where less than half of the visits have it.
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


_OF_SLOPES = np.array([[1.0, -1.0], [0.0, 1.0]])
"""Slopes over ln(s) and ln(l) from e and f: e ln(s) + f ln(l/s) = (e − f) ln(s) + f ln(l)."""


def _exponents(size_B: int, time: Array, references: Array, noise: Array) -> Exponents:
    has_large = ~np.isnan(references[:, 1])
    uses_large = bool(np.mean(has_large) > 0.5)
    rows = has_large if uses_large else np.ones_like(has_large)
    columns = 2 if uses_large else 1
    seen = references[rows, :columns]
    moved = seen.T @ seen
    drift = _positive(moved - np.diag(noise[rows, :columns].sum(axis=0)))
    # What the drift is where references say this, in terms of the exponents.
    drifted = seen @ np.linalg.pinv(moved) @ drift @ _OF_SLOPES[:columns, :columns]
    centre, spread = prior(size_B, has_large=uses_large)
    off = np.clip(time[rows] - drifted @ centre, -MOST_OFF, MOST_OFF)
    slopes, *_ = np.linalg.lstsq(drifted, off, rcond=None)
    # What one visit tells has this variance, and what was believed before those of `spread`.
    variance = float(np.mean((off - drifted @ slopes) ** 2))
    weights = np.linalg.pinv(drifted.T @ drifted + variance * np.diag(spread**-2))
    value = np.clip(centre + weights @ drifted.T @ off, 0.0, MOST_EXPONENT)
    is_told = (drifted**2).sum(axis=0) > 0
    error = np.where(is_told, np.minimum(np.sqrt(variance * np.diag(weights)), spread), spread)
    of_large = (float(value[1]), float(error[1])) if uses_large else (None, None)
    return Exponents(float(value[0]), float(error[0]), *of_large)


def _positive(symmetric: Array) -> Array:
    """The nearest matrix that may be one of variances."""
    values, vectors = np.linalg.eigh(symmetric)
    positive: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return positive


def _visits(records: Sequence[Record], levels: Levels) -> _Visits:
    points: dict[object, list[list[float]]] = {}
    for record in records:
        if record.oversubscribed or record.verified is False or record.operation in SUBTRACTED:
            continue
        for place, level in enumerate(levels.get(ranks_of(record), ())):
            is_there = [level.holds(each) for each in record.reference_s]
            for time_s in visit_times([record], levels, at(place)) if any(is_there) else []:
                large_s = np.array(record.large_reference_s or [math.nan] * len(is_there))
                references = (_middle(np.array(each_s)[is_there]) for each_s in (record.reference_s, large_s))
                (short, short_noise), (large, large_noise) = references
                row = [float(size_place(record.bytes)), math.log(time_s), short, large, short_noise, large_noise]
                points.setdefault((place, ranks_of(record), record.bytes), []).append(row)
    several = [np.array(visits) for visits in points.values() if len(visits) > 1]
    for visits in several:
        visits[:, 1:3] -= np.median(visits[:, 1:3], axis=0)
        if not np.isnan(visits[:, 3]).all():
            visits[:, 3] -= np.nanmedian(visits[:, 3])
    rows = np.concatenate([np.empty((0, 6)), *several])
    return _Visits(rows[:, 0], rows[:, 1], rows[:, 2:4], rows[:, 4:])


def _middle(reference_s: Array) -> tuple[float, float]:
    """ln of the median of the references of a visit, and the variance of that; NaN where they are.

    One that is too far from the others for a drift was disturbed itself.
    """
    logs = np.log(reference_s)
    if np.isnan(logs).any():
        return math.nan, math.nan
    near = logs[np.abs(logs - np.median(logs)) <= math.log(MOST_DRIFT)]
    logs = near if near.size else logs
    noise = MEDIAN_FACTOR**2 * float(np.var(logs, ddof=1)) / logs.size if logs.size > 1 else 0.0
    return float(np.median(logs)), noise
