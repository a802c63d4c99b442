"""Which message sizes to measure: a ladder, then where interpolation misses, until a jump is bracketed."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


def ladder(largest_B: int, ratio: int) -> list[int]:
    """0, 1, ratio, ratio², … and `largest_B` itself, in bytes."""
    sizes = [0]
    size = 1
    while size < largest_B:
        sizes.append(size)
        size *= ratio
    return [*sizes, largest_B] if largest_B > 0 else sizes


def spread(sizes: Sequence[int]) -> list[int]:
    """The same sizes, the ends first, then always the middle of the widest gap."""
    order = list(dict.fromkeys([0, len(sizes) - 1])) if sizes else []
    while len(order) < len(sizes):
        known = sorted(order)
        width, left = max((right - left, -left) for left, right in pairwise(known))
        order.append(-left + width // 2)
    return [sizes[index] for index in order]


@dataclass(frozen=True)
class Suspect:
    """An interval that linear interpolation misses: the three points that say so, and the size to look at."""

    witnesses: tuple[int, int, int]
    size: int


def refine(
    times_s: Mapping[int, float],
    unsure_s: Mapping[int, float],
    tolerance: float,
    narrowest: float,
    excluded: Container[int] = (),
    *,
    with_end: bool = False,
) -> Suspect | None:
    """The size to measure next, or None when linear interpolation is good everywhere.

    `times_s` and `unsure_s`: the median of each size measured and by how much it may be off, bytes → seconds.
    A point that the line through its neighbours misses by more than what it may be off and `tolerance` of its
    time makes the intervals on both its sides suspect. `with_end` the last interval is suspect, too, if only the
    largest size lies off the line through the two before it. Of all suspect intervals the one with the largest
    miss is halved on the logarithmic scale. An interval narrower than the ratio `narrowest` is left: the break
    inside it is bracketed well enough. `excluded` sizes cannot be measured.
    """
    sizes = sorted(times_s)
    suspects: list[tuple[float, Suspect]] = []

    def suspect(miss: float, witnesses: tuple[int, int, int], low: int, high: int) -> None:
        middle = midpoint(low, high)
        if miss > tolerance and high > narrowest * max(low, 1) and not (middle in times_s or middle in excluded):
            # Halving the wider of two equally suspect intervals learns more.
            suspects.append((miss * math.log(high / max(low, 1)), Suspect(witnesses, middle)))

    for left, size, right in zip(sizes, sizes[1:], sizes[2:], strict=False):
        share = (size - left) / (right - left)
        expected_s = times_s[left] + share * (times_s[right] - times_s[left])
        miss = (abs(times_s[size] - expected_s) - unsure_s[size]) / times_s[size]
        triple = left, size, right
        suspect(miss, triple, left, size)
        suspect(miss, triple, size, right)
        if with_end and right == sizes[-1] and miss <= tolerance:
            suspect(_miss_of_last(triple, times_s, unsure_s), triple, size, right)
    return max(suspects, key=lambda entry: entry[0])[1] if suspects else None


def _miss_of_last(
    triple: tuple[int, int, int], times_s: Mapping[int, float], unsure_s: Mapping[int, float]
) -> float:
    """By what share the line through the first two sizes misses the last, beyond what all three leave unsure."""
    first, middle, last = triple
    growth = (last - middle) / (middle - first)
    expected_s = times_s[middle] + growth * (times_s[middle] - times_s[first])
    all_three_s = unsure_s[last] + (1 + growth) * unsure_s[middle] + growth * unsure_s[first]
    return (abs(times_s[last] - expected_s) - all_three_s) / times_s[last]


def midpoint(low: int, high: int) -> int:
    """The geometric middle, rounded to the coarsest power of two that is fine beside the interval."""
    middle = math.sqrt(max(low, 1) * high)
    step = 2 ** max(0, int(math.log2(max(1, (high - low) / 8))))
    return min(max(round(middle / step) * step, low + 1), high - 1) if high - low > 1 else low
