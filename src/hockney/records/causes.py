"""What goes with a level of the machine: the causes that the kernel tells of, visit by visit.

Visits that lie at a level are compared with those at the common level of the same ranks. A cause goes with the
level if the slower visits have more of it (less of the clock frequency):

- by the one-sided test of Mann and Whitney, at `SIGNIFICANCE` divided by the number of causes that are compared;
- by its `factor` in the mean, and by its `least` difference: less would not be felt.

Otherwise the cause was not seen: nothing differs, visits are few, or nothing was recorded. Both may come from a
third thing, and neighbouring visits are alike: "goes with" says that they come together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from hockney.records.levels import Array, Level, common, undisturbed
from hockney.records.record import Causes, Record
from hockney.records.visits import Levels, Ranks, ranks_of

SIGNIFICANCE = 0.01
LEAST_VISITS = 5
"""With fewer on either side nothing is compared."""
WHOLLY = 0.9
"""A visit lies at a level if this share of its undisturbed references does."""
NOT_SEEN = "cause not seen"


def _share(value: float) -> str:
    return f"{100 * value:.2g}% of the time" if value < 0.995 else "all of the time"


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

    def differs(self, slower: Array, faster: Array, significance: float) -> bool:
        """Whether the slower visits have more of it (or less, where less is slow) than the faster ones."""
        more, less = (faster, slower) if self.is_slow_where_less else (slower, faster)
        difference = more.mean() - less.mean()
        if difference < self.least or more.mean() < self.factor * less.mean():
            return False
        return bool(stats.mannwhitneyu(more, less, alternative="greater").pvalue < significance)


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
    told: dict[Ranks, list[Record]] = {}
    for record in records:
        if record.causes is not None and not record.oversubscribed:
            told.setdefault(ranks_of(record), []).append(record)
    return {ranks: _named(of_ranks, told.get(ranks, ())) for ranks, of_ranks in levels.items()}


def _named(levels: Sequence[Level], visits: Sequence[Record]) -> list[Level]:
    usual = common(levels)
    causes = {
        level: [visit.causes for visit in visits if visit.causes and _is_at(level, visit)] for level in levels
    }
    return [level if level is usual else replace(level, cause=_cause(level, usual, causes)) for level in levels]


def _is_at(level: Level, visit: Record) -> bool:
    references_s = undisturbed(visit.reference_s, visit.reference_iqr_s)
    there = [level.holds(float(reference_s)) for reference_s in references_s]
    return bool(there) and float(np.mean(there)) >= WHOLLY


def _cause(level: Level, usual: Level, causes: Mapping[Level, Sequence[Causes]]) -> str:
    """What goes with the level, in words."""
    compared = []
    for cause in CAUSES:
        here, there = (_known(cause, causes[each]) for each in (level, usual))
        if min(here.size, there.size) >= LEAST_VISITS:
            compared.append((cause, here, there))
    is_slower = level.reference_s > usual.reference_s
    seen = [
        f"{cause.words} ({cause.written(float(here.mean()))}, {cause.written(float(there.mean()))} at the common "
        "level)"
        for cause, here, there in compared
        if cause.differs(*((here, there) if is_slower else (there, here)), SIGNIFICANCE / len(compared))
    ]
    return f"goes with {' and '.join(seen)}" if seen else NOT_SEEN


def _known(cause: Cause, causes: Iterable[Causes]) -> Array:
    values = [cause.of(of_visit) for of_visit in causes]
    return np.array([value for value in values if value is not None])
