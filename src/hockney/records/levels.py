"""The levels of a machine: it is faster at times and slower at times, for seconds, as its references say.

Where a hypervisor runs a virtual processor, what a neighbour does, or the frequency of a processor moves all
times by a factor; no disturbance of a single sample shows it. A reference does, the same short exchange timed
before and after each group of samples: bracketing, as metrology calls it. Levels are found in all references of
the same ranks; a group counts for a level if the references on both its sides lie in it.

Two levels are told apart by a stated criterion, on logarithms of the running median of five references:

- their medians lie `LEAST_RATIO` and `SEPARATION` spreads apart (of the wider one, from its quartiles);
- a share `VALLEY` of that distance, between their inner deciles, is all but empty;
- the machine jumps: a share `JUMPS` of the changes from one to the other pass through `JUMP` of the distance
  within three references, whereas correlated noise wanders, and comes back slowly from far out;
- it stays: the rarer level has `STAY` references at least, and the share `LEAST_SHARE` of both.

An information criterion on a Gaussian mixture splits correlated and heavy-tailed streams of one level in two.
tests/records/test_levels.py says how often this criterion does, and how often it finds what was planted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hockney.records.record import Bracketed
from hockney.units import format_time, percent

Array = NDArray[np.float64]
T = TypeVar("T")

STAY = 5
LEAST_SHARE = 0.02
LEAST_RATIO = 1.08
SEPARATION = 3.5
VALLEY = 0.3
JUMP, JUMPS = 0.6, 0.7

MOST_DRIFT = 1.25
"""Within a level from one campaign to another. Ten minutes apart two of them, each of one mode, had references
9 % apart, messages of 64 KiB 15 %, and the times of all sizes went with both (docs/decisions/0010-levels.md).
What is further from the only level of a campaign is no part of it."""

MOST_EXPONENT = 2.0
"""Where caches and memory become slower, and not the processor, large messages move more than the reference:
twice as much in five campaigns of one virtual machine (references of 0.306 to 0.335 µs)."""
LEAST_SPREAD = 0.005
"""Quartiles of few references may lie closer than a clock can tell."""
WIDTH = 3.0
"""Spreads that a level reaches on either side of its median, if that is more than half of `LEAST_RATIO`."""
UNEASY = 0.5
"""A reference was disturbed itself if its quartiles lie further apart than this share of it."""


@dataclass(frozen=True)
class Level:
    """A level of the machine for the same ranks: `reference_s` is the median of its references.

    A reference from `low_s` to `high_s` lies in it. `share`: of the undisturbed references. `stay`: references in
    a row, the median of its stays. `large_reference_s`: the median time of a large message right after each of
    its references, None where none was timed. `cause`: what goes with it (`hockney.records.causes`); "" until
    that is asked, and of the common level. `strays`: of the only level, the share of the references in stays that
    were too short for a level of their own, `MOST_DRIFT` and more than three spreads away.
    """

    reference_s: float
    low_s: float
    high_s: float
    share: float
    stay: float
    large_reference_s: float | None = None
    cause: str = ""
    strays: float = 0.0

    def holds(self, reference_s: float) -> bool:
        """Whether a reference lies in the level."""
        return self.low_s <= reference_s <= self.high_s


def find_levels(reference_s: Sequence[float], iqr_s: Sequence[float]) -> list[Level]:
    """The levels in the references of the same ranks, shape (n,), in the order of time; the fastest comes first.

    `iqr_s`: the distance between the quartiles of each reference. No level without an undisturbed reference.
    """
    single = np.log(undisturbed(reference_s, iqr_s))
    if single.size == 0:
        return []
    logs = _running_median(single)
    cuts = _cuts(logs, -math.inf, math.inf)
    ranges = zip([-math.inf, *cuts], [*cuts, math.inf], strict=True)
    levels = [_level(logs, single, low, high) for low, high in ranges]
    if len(levels) > 1:
        return levels
    low_s, high_s = _drifted(levels[0])
    times_s = np.exp(logs)
    return [replace(levels[0], strays=float(np.mean((times_s < low_s) | (times_s > high_s))))]


def undisturbed(reference_s: Sequence[float], iqr_s: Sequence[float]) -> Array:
    """The references that were not disturbed themselves, shape (m,); `iqr_s`: between the quartiles of each."""
    times_s, iqrs_s = np.asarray(reference_s, dtype=np.float64), np.asarray(iqr_s, dtype=np.float64)
    # A clock may be too coarse to tell a reference from nothing.
    return times_s[(times_s > 0) & (iqrs_s <= UNEASY * times_s)]


def common(levels: Sequence[Level]) -> Level:
    """The level with the largest share; of two alike the faster."""
    return max(levels, key=lambda level: (level.share, -level.reference_s))


def quietest(levels: Sequence[Level]) -> Level:
    """The fastest level."""
    return levels[0]


def is_same_level(a_s: float, b_s: float) -> bool:
    """Whether two references of the same ranks are of one level: no campaign would tell them apart."""
    return max(a_s, b_s) < LEAST_RATIO * min(a_s, b_s)


def may_drift(a_s: float, b_s: float) -> bool:
    """Whether the machine may drift from one reference of the same ranks to the other, between two campaigns."""
    return max(a_s, b_s) <= MOST_DRIFT * min(a_s, b_s)


def large_drifted(a_s: float | None, b_s: float | None) -> bool:
    """Whether two campaigns have large references between which the machine may drift."""
    return a_s is not None and b_s is not None and may_drift(a_s, b_s)


def groups_at(visit: Bracketed, count: int, level: Level) -> list[slice]:
    """Where, among its `count` samples, a visit has groups that lie between two references of the level."""
    return _groups(visit, count, [level.holds(reference_s) for reference_s in visit.reference_s])


def strayed(visit: Bracketed, count: int, only: Level) -> list[slice]:
    """Where a visit has groups that lie between two references of a stay too short for a level.

    They are no part of the `only` level: such references may be half as long, and times a third. One that was
    disturbed itself tells nothing; nor does any where the stays' share is more than `LEAST_SHARE`, and still made
    no level: there references wander.
    """
    if only.strays > LEAST_SHARE:
        return []
    low_s, high_s = _drifted(only)
    references = zip(visit.reference_s, visit.reference_iqr_s, strict=True)
    return _groups(
        visit, count, [not low_s <= time_s <= high_s and iqr_s <= UNEASY * time_s for time_s, iqr_s in references]
    )


def _groups(visit: Bracketed, count: int, is_in: Sequence[bool]) -> list[slice]:
    """The groups that lie between two references of those that `is_in` says."""
    begins = [*visit.group_begins, count]
    groups = zip(begins[:-1], begins[1:], is_in[:-1], is_in[1:], strict=False)
    # Of a collective's group no sample may be left: those that started late count for nothing.
    return [slice(first, last) for first, last, *both in groups if first < last and all(both)]


def _drifted(level: Level) -> tuple[float, float]:
    """How far a level reaches, in seconds, if it drifts by `MOST_DRIFT`, or by its spreads if they are more."""
    return min(level.low_s, level.reference_s / MOST_DRIFT), max(level.high_s, level.reference_s * MOST_DRIFT)


def in_common(pairs: Iterable[tuple[T, T]], level_of: Callable[[T], tuple[float, float]]) -> tuple[T, T] | None:
    """Of pairs, each of a level of one campaign and one of another, their common level; None: they have none.

    `level_of`: reference (s) and share. Of pairs that are the same level, and without any of those between which
    the machine may drift, the one that held longest in the campaign in which it held shorter.
    """
    same: list[tuple[float, tuple[T, T]]] = []
    drifted: list[tuple[float, tuple[T, T]]] = []
    for pair in pairs:
        (a_s, share_a), (b_s, share_b) = map(level_of, pair)
        if may_drift(a_s, b_s):
            (same if is_same_level(a_s, b_s) else drifted).append((min(share_a, share_b), pair))
    best = max(same or drifted, key=lambda each: each[0], default=None)
    return None if best is None else best[1]


def in_words(levels: Sequence[Level]) -> str:
    """`The machine changed its speed: 88 % of the time as used here, 12 % of it 2.6 × as long, …`"""
    chosen = common(levels)
    reference = f"reference {format_time(chosen.reference_s)}"
    others = [
        f"{percent(level.share)} of it {level.reference_s / chosen.reference_s:.2g} × as long"
        f"{f', {level.cause}' if level.cause else ''}"
        for level in sorted(levels, key=lambda level: -level.share)
        if level is not chosen
    ]
    if others:
        usual = f"{percent(chosen.share)} of the time as used here ({reference})"
        return f"The machine changed its speed: {', '.join([usual, *others])}."
    is_strayed = 0 < chosen.strays <= LEAST_SHARE
    strays = f"; {percent(chosen.strays)} of the time another, too short to count" if is_strayed else ""
    return f"The machine kept one speed ({reference}{strays})."


def _running_median(logs: Array) -> Array:
    if logs.size < STAY:
        return logs
    middle = np.median(np.lib.stride_tricks.sliding_window_view(logs, STAY), axis=1)
    return np.concatenate([np.full(STAY // 2, middle[0]), middle, np.full(STAY // 2, middle[-1])])


def _cuts(logs: Array, low: float, high: float) -> list[float]:
    """Where to cut the range between the logarithms `low` and `high` into levels, ascending."""
    cut = _cut(logs[(logs >= low) & (logs < high)])
    return [] if cut is None else [*_cuts(logs, low, cut), cut, *_cuts(logs, cut, high)]


def _cut(logs: Array) -> float | None:
    """Where logarithms, in the order of time, are best cut in two; None where they are one level."""
    ordered, count = np.sort(logs), logs.size
    least = max(STAY, math.ceil(LEAST_SHARE * count))
    below = np.arange(least, count - least + 1)
    if below.size == 0:
        return None
    first, last = np.zeros_like(below), np.full_like(below, count)
    distance = _quantile(ordered, below, last, 0.5) - _quantile(ordered, first, below, 0.5)
    spread = np.maximum(_spread(ordered, first, below), _spread(ordered, below, last))
    valley = _quantile(ordered, below, last, 0.1) - _quantile(ordered, first, below, 0.9)
    is_apart = (distance >= math.log(LEAST_RATIO)) & (distance >= SEPARATION * spread)
    is_apart &= valley >= VALLEY * distance
    # Between equal references there is nothing to cut: one part would hold them all.
    is_apart &= ordered[below] > ordered[below - 1]
    if not is_apart.any():
        return None
    gap = np.where(is_apart, ordered[below] - ordered[below - 1], -1.0)
    widest = int(np.argmax(gap))
    lower, upper = ordered[below[widest] - 1], ordered[below[widest]]
    cut = max(float(lower + upper) / 2, float(np.nextafter(lower, upper)))
    changes = np.flatnonzero(np.diff(logs > cut))
    steps = np.abs(logs[np.minimum(changes + 2, count - 1)] - logs[np.maximum(changes - 1, 0)])
    return cut if np.mean(steps >= JUMP * distance[widest]) >= JUMPS else None


def _quantile(ordered: Array, first: NDArray[np.int_], last: NDArray[np.int_], level: float) -> Array:
    """The quantile of each slice `ordered[first:last]`, as numpy's default interpolates it."""
    position = first + level * (last - 1 - first)
    before = position.astype(np.int_)
    after = np.minimum(before + 1, ordered.size - 1)
    quantile: Array = ordered[before] + (position - before) * (ordered[after] - ordered[before])
    return quantile


def _spread(ordered: Array, first: NDArray[np.int_], last: NDArray[np.int_]) -> Array:
    """The standard deviation that normal values with these quartiles would have."""
    quartiles = _quantile(ordered, first, last, 0.75) - _quantile(ordered, first, last, 0.25)
    return np.maximum(quartiles / 1.349, LEAST_SPREAD)


def _level(logs: Array, single: Array, low: float, high: float) -> Level:
    """The level between two cuts; `single`: the references of which `logs` is the running median."""
    is_in = (logs >= low) & (logs < high)
    centre, whole = float(np.median(logs[is_in])), np.array([np.count_nonzero(is_in)])
    spread = float(_spread(np.sort(single[is_in]), np.zeros_like(whole), whole)[0])
    reach = max(WIDTH * spread, math.log(LEAST_RATIO) / 2)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]])))
    return Level(
        math.exp(centre),
        math.exp(max(low, centre - reach)),
        math.exp(min(high, centre + reach)),
        float(np.mean(is_in)),
        float(np.median(edges[1::2] - edges[::2])),
    )
