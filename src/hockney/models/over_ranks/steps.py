"""Steps of time against ranks, and the reasons that the machine and the library have for one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.broken_curve import Break
from hockney.records.record import Locality
from hockney.units import counted

Why = Literal["power_of_two", "decision", "protocol", "segments"] | Locality


@dataclass(frozen=True)
class StepPlace:
    """Where a step is, between `before` and `after` ranks, and what begins there.

    `is_exact`: no number of ranks was measured between them; otherwise the data do not tell where in this range.
    """

    before: int
    after: int
    is_exact: bool = True
    why: tuple[Why, ...] = ()

    def __str__(self) -> str:
        words = ("from", "to") if self.is_exact else ("between", "and")
        return f"{words[0]} {self.before} {words[1]} {counted(self.after, 'rank')}"


@dataclass(frozen=True)
class LevelStep:
    """How much longer an operation takes beyond a place: the ratio of levels and its 95 % interval.

    `p_value` None: the curve has too few points there to tell. `slope_ratio`: of a bend, how much more a further
    rank costs beyond it; its ratio of levels is NaN.
    """

    ratio: float
    low: float
    high: float
    p_value: float | None
    slope_ratio: float | None = None


UNTOLD = LevelStep(math.nan, math.nan, math.nan, None)


@dataclass(frozen=True)
class FoundStep:
    """A step, or a bend, of one algorithm: of its allocations together, and of each.

    `at`: the likeliest of the places in the range. `is_common`: the allocations show it together; `shown_by`:
    those in which it can be told by itself.
    """

    place: StepPlace
    at: Break
    together: LevelStep
    each: Mapping[str, LevelStep]
    is_common: bool
    shown_by: tuple[str, ...]

    def holds(self, boundary: Boundary) -> bool:
        """Whether something begins in its range; a bend at a number of ranks may be before it or after it."""
        return boundary.before < self.place.after + self.at.is_bend and self.place.before < boundary.after


def block_changes(size_B: int, segment_B: int, limits_B: Iterable[float]) -> list[tuple[int, Why]]:
    """The last ranks P before a block of S/P bytes is cut into fewer segments, or falls below a protocol's limit.

    Of segments the last two changes, from three to two and from two to one: others are small.
    """
    below: list[tuple[float, Why]] = [(limit_B, "protocol") for limit_B in limits_B]
    below += [(count * segment_B, "segments") for count in (2, 1) if segment_B]
    return [(last, why) for least_B, why in below if (last := math.ceil(size_B / least_B) - 1) > 0]


def reasons(
    before: int, after: int, levels: Iterable[Locality] = (), changes: Iterable[tuple[int, Why]] = ()
) -> tuple[Why, ...]:
    """What begins between two numbers of ranks: a power of two, a level of the machine, another way of messages.

    At a power of two a tree gets a level deeper on its one side (⌊log₂P⌋) or its other (⌈log₂P⌉). `levels`
    begin between them; `changes`: the last ranks before each.
    """
    why: list[Why] = ["power_of_two"] if before > 1 and (2 ** (after.bit_length() - 1) >= before) else []
    why += levels
    why += [reason for last, reason in changes if before <= last < after]
    return tuple(dict.fromkeys(why))
