"""Whether two measured numbers differ: Welch's test between launches, corrected for many comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from hockney.models.base import DRIFT, Parameter
from hockney.statistics import standard_error, t_reach

LEVEL = 0.05
"""Share of the differences found that are expected to be false, at most (Benjamini and Hochberg, 1995)."""

LEAST_LAUNCHES = 3
"""Fewer launches a side do not tell what changes from launch to launch."""


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval, and what is known of the launches behind it.

    `launches` is None where nobody says how many there were. `freedom` are the degrees of freedom that tell how
    launches differ, None where nobody says: then one less than there are launches. `is_students`: its interval is
    Student's with its `freedom`, as that of a point which several launches measured. `launch_error` is the
    relative standard error that is common to all numbers of these launches, which no number of sizes averages
    away. `drift`: how far the machine moves it from campaign to campaign (`hockney.models.base.drift`).
    """

    parameter: Parameter
    launches: int | None = None
    freedom: float | None = None
    is_students: bool = False
    launch_error: float = 0.0
    drift: float = DRIFT

    @property
    def has_interval(self) -> bool:
        """Whether something supports an interval."""
        return self.parameter.low is not None and self.parameter.high is not None

    @property
    def enough_launches(self) -> bool:
        """Whether there are launches enough to judge by."""
        return self.launches is not None and self.launches >= LEAST_LAUNCHES


def p_value(a: Measured, b: Measured) -> float | None:
    """How likely a difference as large as that of a and b is where nothing differs; None: cannot be judged.

    Welch's test, of the logarithms where both intervals are positive. Errors are those of the intervals, at least
    `launch_error`, and on each side the `drift` of the machine from campaign to campaign.
    """
    if not (a.has_interval and b.has_interval and a.enough_launches and b.enough_launches):
        return None
    logarithms = all(side.parameter.low is not None and side.parameter.low > 0 for side in (a, b))
    sides = [_value_and_error(side, logarithms) for side in (a, b)]
    (value_a, error_a), (value_b, error_b) = sides
    if error_a == error_b == 0:
        # All launches agree to the last digit, as those of a simulator do.
        return 1.0 if value_a == value_b else 0.0
    drifts = [a.drift, b.drift] if logarithms else [a.drift * abs(value_a), b.drift * abs(value_b)]
    variance = sum(error**2 for _, error in sides)
    total = variance + sum(drift**2 for drift in drifts)
    # The drift is taken as known: it adds to the variance, not to its uncertainty (Satterthwaite, 1946).
    parts = sum(error**4 / _freedom(side) for side, (_, error) in zip((a, b), sides, strict=True))
    return float(2 * stats.t.sf(abs(value_b - value_a) / math.sqrt(total), total**2 / parts))


def _freedom(side: Measured) -> float:
    return side.freedom or float((side.launches or 2) - 1)


def _value_and_error(side: Measured, logarithms: bool) -> tuple[float, float]:
    """A value and its standard error, of the logarithm where `logarithms`."""
    value, low, high = side.parameter.value, side.parameter.low, side.parameter.high
    assert low is not None
    assert high is not None
    floor = side.launch_error * abs(value)
    if logarithms:
        value, low, high, floor = math.log(value), math.log(low), math.log(high), side.launch_error
    # An interval that was cut off at zero has its true width on the other side.
    reach = max(high - value, value - low, 0.0)
    if side.is_students and side.freedom:
        error = reach / t_reach(1.0, side.freedom)
    else:
        error = standard_error(-reach, reach)
    return value, max(error, floor)


def corrected(p_values: Sequence[float]) -> list[float]:
    """The smallest level at which each would be called a difference among all of them, in the same order.

    Benjamini and Hochberg's correction: whatever is called a difference at a level is expected to be false in at
    most that share, if the comparisons are independent or vary together.
    """
    return [float(p) for p in stats.false_discovery_control(p_values)] if p_values else []


def launch_error(measured: Sequence[Measured]) -> float:
    """The relative standard error that what was measured has in common: the median over sizes; 0 without any.

    Where the freedom of the intervals is not known they are hulls of what launches gave, and nothing says where
    in one the true time lies: a number known to lie within ±a has the standard uncertainty a/√3 (Guide to the
    Expression of Uncertainty in Measurement, 4.3.7).
    """
    errors = []
    for side in measured:
        value, low, high = side.parameter.value, side.parameter.low, side.parameter.high
        if low is not None and high is not None:
            reach = (high - low) / 2 / value
            errors.append(reach / math.sqrt(3) if side.freedom is None else reach / t_reach(1.0, side.freedom))
    return float(np.median(errors)) if errors else 0.0
