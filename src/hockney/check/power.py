"""What a check would have found: how small a factor, and how many launches a given factor takes.

A comparison is found where Student's t of its ln(ratio) is beyond what Holm's correction asks of the next
violation. Were the true factor F, that t would lie around ln(F) over the standard error that launches show, as
Student's t does. Further launches make the standard error smaller, by the square root of their number, as far as
it is not what a ratio moves between campaigns.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy import special

from hockney.check.judge import LEAST_LAUNCHES, ROUNDING, JudgedRatios, with_drift
from hockney.statistics import MOST_REACH, Array

FOUND = 0.95
"""The probability with which a factor is said to be found."""

FACTOR = 1.3
"""The factor for which launches are counted, where it would be a violation."""

MOST_FACTOR = 100.0
"""Of a factor beyond it nothing is said; it is below exp(`MOST_REACH`)."""

MOST_LAUNCHES = 10_000
"""As many as a plan may have."""


@dataclass(frozen=True)
class Power:
    """What a check finds, of the comparisons that launches tell something of.

    `median_factor` and `worst_factor`: the smallest true factor found with the probability `FOUND` in the median
    comparison and in the worst, which is the most uncertain one's and scatters as that does; None where none up
    to `MOST_FACTOR` is. `found_share`: how probable a factor of `FACTOR` is found, the mean of all comparisons.
    `launches`: with so many each comparison finds it with the probability `FOUND`; None where `MOST_LAUNCHES` are
    too few. Both are None where `FACTOR` is not above the least factor: then it is no violation.
    """

    median_factor: float | None
    worst_factor: float | None
    found_share: float | None
    launches: int | None
    probability: float = FOUND
    factor: float = FACTOR


def power(judged: JudgedRatios, violated: int, family_error: float, least_factor: float) -> Power | None:
    """What a check finds that calls so many comparisons violated; None where no launches tell anything."""
    timed = np.flatnonzero(~np.isnan(judged.p))
    if not timed.size:
        return None
    tail = family_error / max(timed.size - violated, 1)
    had = judged.launches[timed]

    def asked(launches: Array) -> tuple[Array, Array, Array]:
        """Of so many launches of each: the standard error of ln(ratio), its freedom, and how large it must be."""
        own = judged.error[timed] * np.sqrt(had / launches)
        # What disturbed launches took from the freedom stays lost.
        error, freedom = with_drift(own, np.maximum(1.0, judged.freedom[timed] + launches - had))
        beyond = np.maximum(-special.stdtrit(freedom, tail) * error, math.log(least_factor))
        return np.maximum(error, ROUNDING), freedom, beyond

    def found(launches: Array) -> Array:
        """How probable it is that `FACTOR` is found in each comparison."""
        error, freedom, beyond = asked(launches)
        return np.asarray(special.stdtr(freedom, (math.log(FACTOR) - beyond) / error))

    def is_enough(launches: int) -> bool:
        return bool(found(np.full(timed.size, float(launches))).min() >= FOUND)

    error, freedom, beyond = asked(had.astype(np.float64))
    factors = np.exp(np.minimum(beyond + special.stdtrit(freedom, FOUND) * error, MOST_REACH))
    smallest = _within(float(np.median(factors))), _within(float(factors.max()))
    if least_factor >= FACTOR:
        return Power(*smallest, None, None)
    counts = range(LEAST_LAUNCHES, MOST_LAUNCHES + 1)
    place = bisect_left(counts, True, key=is_enough)
    share = float(found(had.astype(np.float64)).mean())
    return Power(*smallest, share, counts[place] if place < len(counts) else None)


def _within(factor: float) -> float | None:
    return factor if factor <= MOST_FACTOR else None
