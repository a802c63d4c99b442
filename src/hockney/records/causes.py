"""What goes with a level of the machine: the causes that the kernel tells of, visit by visit.

Visits that lie at a level are compared with those at the common level of the same ranks. A cause goes with the
level if the slower visits have more of it (less of the clock frequency):

- by the one-sided test of Mann and Whitney, at `SIGNIFICANCE` divided by the number of causes that are compared,
  with as many visits as would say as much if neighbours were not alike (Bartlett, 1935);
- by its `factor` in the mean, and by its `least` difference: less would not be felt.

Otherwise the cause was not seen: nothing differs, visits are few, or nothing was recorded. Both may come from a
third thing: "goes with" says that they come together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hockney.records.levels import Array, Level, common, undisturbed
from hockney.records.record import Causes, Record
from hockney.records.visits import Levels, Ranks, ranks_of
from hockney.units import percent

Mask = NDArray[np.bool_]

SIGNIFICANCE = 0.01
LEAST_VISITS = 5
"""With fewer on either side nothing is compared."""
WHOLLY = 0.9
"""A visit lies at a level if this share of its undisturbed references does."""
NOT_SEEN = "cause not seen"


def _share(value: float) -> str:
    return f"{percent(value)} of the time" if value < 0.995 else "all of the time"


def _rate(value: float) -> str:
    return f"{value:.0f} per second" if value >= 10 else f"{value:.2g} per second"


@dataclass(frozen=True)
class Cause:
    """A cause, by its field of `Causes`: as a share of time, a rate per second or a value (`is_per_second`)."""

    field: str
    words: str
    written: Callable[[float], str]
    factor: float
    least: float
    is_slow_where_less: bool = False
    is_per_second: bool = True

    def of(self, causes: Causes) -> float | None:
        """What a visit has of it; None where the kernel did not tell."""
        value: float | None = getattr(causes, self.field)
        return value if value is None or not self.is_per_second else value / causes.span_s

    def differs(self, values: Array, is_slower: Mask, significance: float) -> bool:
        """Whether the slower visits have more of it (or less, where less is slow) than the faster ones.

        `values`: of all visits, shape (n,), in the order of time.
        """
        is_more = ~is_slower if self.is_slow_where_less else is_slower
        more, less = values[is_more].mean(), values[~is_more].mean()
        is_felt = more - less >= self.least and more >= self.factor * less
        return bool(is_felt and _p_value(values, is_more) < significance)


CAUSES = (
    Cause("waited_s", "waiting for a busy processor", _share, 2.0, 0.01),
    Cause("stolen_s", "time that the hypervisor took", _share, 2.0, 0.01),
    Cause("siblings_busy_s", "busy hardware threads of the same cores", _share, 2.0, 0.1),
    Cause("involuntary_switches", "involuntary context switches", _rate, 2.0, 1.0),
    Cause("migrations", "moves to other processors", _rate, 2.0, 1.0),
    Cause(
        "frequency_Hz",
        "another clock frequency",
        lambda value: f"{value / 1e9:.3g} GHz",
        1.05,
        0.0,
        is_slow_where_less=True,
        is_per_second=False,
    ),
)


def with_causes(levels: Levels, records: Iterable[Record]) -> dict[Ranks, list[Level]]:
    """The levels, all but the common one of each ranks with what goes with it (`Level.cause`).

    `records`: the visits in which the levels were found.
    """
    by_ranks: dict[Ranks, list[Record]] = {}
    for record in records:
        if record.causes is not None and not record.oversubscribed:
            by_ranks.setdefault(ranks_of(record), []).append(record)
    return {ranks: _named(of_ranks, by_ranks.get(ranks, ())) for ranks, of_ranks in levels.items()}


def _named(levels: Sequence[Level], visits: Sequence[Record]) -> list[Level]:
    usual = common(levels)
    met = [(level, visit.causes) for visit in visits for level in levels if visit.causes and _is_at(level, visit)]
    return [level if level is usual else replace(level, cause=_cause(level, usual, met)) for level in levels]


def _is_at(level: Level, visit: Record) -> bool:
    references_s = undisturbed(visit.reference_s, visit.reference_iqr_s)
    is_at = [level.holds(float(reference_s)) for reference_s in references_s]
    return bool(is_at) and float(np.mean(is_at)) >= WHOLLY


def _cause(level: Level, usual: Level, met: Sequence[tuple[Level, Causes]]) -> str:
    """What goes with the level, in words; `met`: which level each visit lay at, in the order of time."""
    compared = []
    for cause in CAUSES:
        known = [
            (at, value) for at, causes in met if at in (level, usual) and (value := cause.of(causes)) is not None
        ]
        values, is_here = (
            np.array([value for _, value in known]),
            np.array([at is level for at, _ in known], dtype=bool),
        )
        if min(np.count_nonzero(is_here), np.count_nonzero(~is_here)) >= LEAST_VISITS:
            compared.append((cause, values, is_here))
    is_slower = level.reference_s > usual.reference_s
    seen = [
        f"{cause.words} ({cause.written(float(values[is_here].mean()))}, "
        f"{cause.written(float(values[~is_here].mean()))} at the common level)"
        for cause, values, is_here in compared
        if cause.differs(values, is_here if is_slower else ~is_here, SIGNIFICANCE / len(compared))
    ]
    return f"goes with {' and '.join(seen)}" if seen else NOT_SEEN


def _p_value(values: Array, is_more: Mask) -> float:
    """The chance that those values lie so far above the others, if only time goes by: one-sided."""
    # It takes half a second to import, and whoever reads a machine file does without.
    from scipy import stats

    p = stats.mannwhitneyu(values[is_more], values[~is_more], alternative="greater").pvalue
    freedom = max(values.size / _inflation(values, is_more) - 2, 1.0)
    return float(stats.t.sf(stats.norm.isf(p) * math.sqrt((freedom + 2) / values.size), freedom))


def _inflation(values: Array, is_more: Mask) -> float:
    """By how much the variance of the test grows because neighbours are alike: 1 + 2 Σ ρ_k(level) ρ_k(rank).

    The ranks are those within each level: what goes with a level must not count as likeness of neighbours.
    """
    from scipy import stats  # as in `_p_value`

    rank = stats.rankdata(values)
    rank[is_more] -= rank[is_more].mean()
    rank[~is_more] -= rank[~is_more].mean()
    both = _autocorrelation(rank) * _autocorrelation(is_more - is_more.mean())
    return max(1.0, 1 + 2 * float(both.sum()))


def _autocorrelation(centred: Array) -> Array:
    """The correlation with what comes k values later, k = 1 … n − 1; shape (n − 1,)."""
    products = np.correlate(centred, centred, mode="full")[centred.size - 1 :]
    # Values that are all alike have none.
    rho: Array = products[1:] / (products[0] or 1.0)
    return rho
