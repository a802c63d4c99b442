"""One quantity of two machines: what is compared, and what can be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from hockney.machine.file import EntryLevel
from hockney.models.base import Parameter
from hockney.report.views.judgement import LEVEL, Measured, p_value

Verdict = Literal["differs", "cannot be told", "not judged", "no interval", "equal"]
"""Judged, and more or no more than chance; too few launches, or of another level; no interval; the same number
without an interval."""


@dataclass(frozen=True)
class QuantityComparison:
    """One quantity in both machines; `ratio` is b / a, and lies between `low` and `high`.

    `ratio` is None if a is not positive or the quotient overflows. `low` and `high` are b.low / a.high and
    b.high / a.low: they hold whether or not the errors of a and b are correlated. `p` is that of `p_value`, None
    where nothing could be judged, `p_corrected` what becomes of it among all comparisons of a diff. `levels` are
    those of the machine at which a and b were measured, None where they are not known; a or b is `elsewhere` if
    it was never met at that level. `at_reference_s`: the reference to which times were brought, None as measured;
    `at_large_reference_s`: the large one, None where it is not known in both, or too far apart.
    """

    where: str
    name: str
    a: Parameter
    b: Parameter
    launches: tuple[int | None, int | None]
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    levels: tuple[EntryLevel | None, EntryLevel | None] = (None, None)
    at_reference_s: float | None = None
    at_large_reference_s: float | None = None
    elsewhere: tuple[bool, bool] = (False, False)

    @property
    def verdict(self) -> Verdict:
        """What can be said of the two."""
        if any(self.elsewhere):
            return "not judged"
        if self.p_corrected is not None:
            return "differs" if self.p_corrected <= LEVEL else "cannot be told"
        if None not in (self.a.low, self.a.high, self.b.low, self.b.high):
            return "not judged"
        return "equal" if self.a.value == self.b.value else "no interval"

    def as_json(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        return {
            "where": self.where,
            "quantity": self.name,
            "a": self.a.model_dump(mode="json"),
            "b": self.b.model_dump(mode="json"),
            "ratio": self.ratio,
            "ratio_low": self.low,
            "ratio_high": self.high,
            "verdict": self.verdict,
            "judged": self.p is not None,
            "launches_a": self.launches[0],
            "launches_b": self.launches[1],
            "p": self.p,
            "p_corrected": self.p_corrected,
            "level_a": _level(self.levels[0]),
            "level_b": _level(self.levels[1]),
            "at_reference_s": self.at_reference_s,
            "at_large_reference_s": self.at_large_reference_s,
            "elsewhere_a": self.elsewhere[0],
            "elsewhere_b": self.elsewhere[1],
        }


def _level(level: EntryLevel | None) -> dict[str, float | None] | None:
    return None if level is None else level.model_dump(include={"reference_s", "large_reference_s", "share"})


def compare(where: str, name: str, a: Measured, b: Measured) -> QuantityComparison:
    """Compare `a` and `b`, which have the same unit, as if nothing else were compared."""
    of_a, of_b = a.parameter, b.parameter
    low = high = None
    if of_a.low is not None and of_a.high is not None and of_b.low is not None and of_b.high is not None:
        positive = of_a.low > 0 and of_b.low >= 0
        low, high = (_ratio(of_b.low, of_a.high), _ratio(of_b.high, of_a.low)) if positive else (None, None)
    p = p_value(a, b)
    ratio = _ratio(of_b.value, of_a.value)
    return QuantityComparison(where, name, of_a, of_b, (a.launches, b.launches), ratio, low, high, p, p)


def _ratio(over: float, under: float) -> float | None:
    """The quotient; None if `under` is not positive or the quotient overflows."""
    ratio = over / under if under > 0 else math.inf
    return ratio if math.isfinite(ratio) else None
