"""A series: one quantity against message size, everything else held fixed. What the models are fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hockney.errors import RequestError


@dataclass(frozen=True)
class Caches:
    """The smallest last-level cache of the processors, which cores share, and the smallest of those before it."""

    last_B: int
    before_last_B: int | None = None


# Arrays have no one truth value, so that generated equality would raise: a series equals itself alone.
@dataclass(frozen=True, eq=False)
class Series:
    """`time_s[i]` is the time of a message of `size_B[i]` bytes; sizes strictly increase.

    `low_s` and `high_s` bound the median at 95 % (equal to `time_s` where the source gave no interval); `freedom`
    are the degrees of freedom behind these, NaN or None where nobody says.
    `key` says what was held fixed (system, operation, locality, variant, pair, …). `eager_limit_B` is what the
    library says of itself, None where it says nothing; `breaks_B` are further sizes above which it does something
    else.
    """

    key: Mapping[str, str]
    size_B: NDArray[np.float64]
    time_s: NDArray[np.float64]
    low_s: NDArray[np.float64]
    high_s: NDArray[np.float64]
    eager_limit_B: float | None = None
    breaks_B: tuple[float, ...] = ()
    related: Mapping[str, Series] = field(default_factory=dict)
    """Dedicated measurements of the same ranks, by operation (`send_overhead`, `bandwidth`, …)."""
    freedom: NDArray[np.float64] | None = None
    caches: Caches | None = None
    is_at_reference: bool = False
    """Whether the times are what they would be at a given reference of the machine (`machine.levels`)."""

    def __post_init__(self) -> None:
        if self.size_B.size == 0:
            raise RequestError(f"empty series {dict(self.key)}", "measure or import at least one size")
        if np.any(np.diff(self.size_B) <= 0):
            raise ValueError("sizes of a series strictly increase")
        if not np.all(np.isfinite(self.time_s)) or np.any(self.time_s <= 0):
            raise RequestError(f"series {dict(self.key)} has times that are not positive", "remove those rows")

    def take(self, mask: NDArray[np.bool_]) -> Series:
        """The points where `mask` holds, same key and related series."""
        return Series(
            self.key,
            self.size_B[mask],
            self.time_s[mask],
            self.low_s[mask],
            self.high_s[mask],
            self.eager_limit_B,
            self.breaks_B,
            self.related,
            None if self.freedom is None else self.freedom[mask],
            self.caches,
            self.is_at_reference,
        )

    def name(self) -> str:
        """The known values of the key, which tell this series from others in messages."""
        return " ".join(value for value in self.key.values() if value)


def size_place(size_B: ArrayLike) -> NDArray[np.float64]:
    """Where a size lies: its logarithm, with an empty message as far below 1 B as 1 B below 2 B."""
    return np.log(np.maximum(size_B, 0.5))


def completed(size_B: NDArray[np.float64], time_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Times in seconds of several series, shape (series, sizes), with an estimate where one is missing (NaN).

    A series differs from those that have the size as it does at the nearest sizes of both: by a line in the size
    between two of them, exact where all are α + βn; beyond the last by no more, in seconds or in ratio. Without a
    size of both it has the line between its own, and NaN outside of these.
    """
    known, filled = ~np.isnan(time_s), time_s.copy()
    for place in np.flatnonzero(~known.all(axis=0)):
        having = known[:, place]
        usual = np.median(time_s[having], axis=0)  # NaN where one of them lacks the size
        for row in np.flatnonzero(~having):
            both = np.flatnonzero(known[row] & ~np.isnan(usual))
            if not both.size:
                own = size_B[known[row]], time_s[row, known[row]]
                filled[row, place] = np.interp(size_B[place], *own, np.nan, np.nan)
                continue
            apart = np.interp(size_B[place], size_B[both], time_s[row, both] - usual[both])
            if not both[0] < place < both[-1]:
                apart *= min(1.0, usual[place] / usual[both[0] if place < both[0] else both[-1]])
            least = min(1.0, float(np.min(time_s[row, both] / usual[both])))
            filled[row, place] = usual[place] * max(least, 1 + apart / usual[place])
    return filled
