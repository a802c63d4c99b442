"""One quantity of two machines: what is compared, and what can be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pydantic import computed_field

from hockney.machine.file import EntryLevel
from hockney.machine.formula import interval, stated
from hockney.models.base import Parameter
from hockney.report.views.judgement import LEVEL, Measured, p_value

Verdict = Literal["differs", "undecided", "not judged", "no interval", "equal"]
"""Judged, and more or no more than chance; too few launches, or of another level; no interval; the same number
without an interval."""


@dataclass(frozen=True)
class QuantityComparison:
    """One quantity in both machines; `ratio` is b / a, and lies between `ratio_low` and `ratio_high`.

    `ratio` is None if a is not positive or the quotient overflows. Its ends are b.low / a.high and
    b.high / a.low: they hold whether or not the errors of a and b are correlated. `p` is that of `p_value`, None
    where nothing could be judged, `p_corrected` what becomes of it among all comparisons of a diff. The levels
    are those of the machine at which a and b were measured, None where they are not known; a or b is `elsewhere`
    if it was never met at that level. `at_reference_s`: the reference to which times were brought, None as
    measured; `at_large_reference_s`: the large one, None where it is not known in both, or too far apart.
    """

    where: str
    quantity: str
    a: Parameter
    b: Parameter
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    launches_a: int | None
    launches_b: int | None
    p: float | None
    p_corrected: float | None
    level_a: EntryLevel | None = None
    level_b: EntryLevel | None = None
    at_reference_s: float | None = None
    at_large_reference_s: float | None = None
    elsewhere_a: bool = False
    elsewhere_b: bool = False
    imported: bool = False
    """Whether a side comes from files alone, which nobody can measure again."""

    @computed_field
    @property
    def verdict(self) -> Verdict:
        """What can be said of the two."""
        if self.elsewhere_a or self.elsewhere_b:
            return "not judged"
        if self.p_corrected is not None:
            return "differs" if self.p_corrected <= LEVEL else "undecided"
        if None not in (self.a.low, self.a.high, self.b.low, self.b.high):
            return "not judged"
        return "equal" if self.a.value == self.b.value else "no interval"

    @computed_field
    @property
    def judged(self) -> bool:
        """Whether it has intervals and launches enough on both sides."""
        return self.p is not None

    @property
    def stated_a(self) -> str:
        """`0.2 µs (0.19–0.21)`."""
        return _stated(self.a)

    @property
    def stated_b(self) -> str:
        """The same of b."""
        return _stated(self.b)

    @property
    def stated_ratio(self) -> str | None:
        """`1.5 (1.2–1.8)`; None where it is not defined."""
        if self.ratio is None:
            return None
        if self.ratio_low is None or self.ratio_high is None:
            return f"{self.ratio:.3g}"
        return f"{self.ratio:.3g} ({self.ratio_low:.3g}–{self.ratio_high:.3g})"

    @property
    def stated_verdict(self) -> str:
        """The verdict, with the sides that stand at another level than the one compared."""
        elsewhere = {"A": self.elsewhere_a, "B": self.elsewhere_b}
        sides = " and ".join(letter for letter, is_elsewhere in elsewhere.items() if is_elsewhere)
        return f"{self.verdict} ({sides} at another level)" if sides else self.verdict


def _stated(parameter: Parameter) -> str:
    value = stated(parameter)
    if parameter.low is None or parameter.high is None:
        return value
    bounds, unit = interval(parameter).replace(" to ", "–"), f" {value.rpartition(' ')[2]}"
    # The unit of all three stands once.
    return f"{value} ({bounds.removesuffix(unit) if bounds.count(' ') == 1 else bounds})"


def compare(where: str, quantity: str, a: Measured, b: Measured) -> QuantityComparison:
    """Compare `a` and `b`, which have the same unit, as if nothing else were compared."""
    of_a, of_b = a.parameter, b.parameter
    low = high = None
    if of_a.low is not None and of_a.high is not None and of_b.low is not None and of_b.high is not None:
        positive = of_a.low > 0 and of_b.low >= 0
        low, high = (_ratio(of_b.low, of_a.high), _ratio(of_b.high, of_a.low)) if positive else (None, None)
    p = p_value(a, b)
    ratio = _ratio(of_b.value, of_a.value)
    return QuantityComparison(where, quantity, of_a, of_b, ratio, low, high, a.launches, b.launches, p, p)


def _ratio(over: float, under: float) -> float | None:
    """The quotient; None if `under` is not positive or the quotient overflows."""
    ratio = over / under if under > 0 else math.inf
    return ratio if math.isfinite(ratio) else None
