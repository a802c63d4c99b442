"""What a law of scaling is: a speed-up as a function of processes, its parameters, and what follows from it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from hockney.registry import Registry


class Law(ABC):
    """A speed-up S(p; θ) with S(1) = 1. Every parameter is a number without a unit, at least 0."""

    title: ClassVar[str]
    """The name as people say it."""
    formula: ClassVar[str]
    upper: ClassVar[Mapping[str, float]]
    """The parameters in their order, with the largest value that each may have."""
    is_weak: ClassVar[bool] = False
    """The work grows with the processes: S is the scaled speed-up p·T(1)/T(p)."""

    @abstractmethod
    def speedup(self, processes: Any, theta: Sequence[Any]) -> Any:
        """S at `processes`, in the arithmetic of what is given: fractions stay exact, arrays keep their shape."""

    @abstractmethod
    def most_processes(self, efficiency: Fraction, theta: Sequence[Fraction]) -> float | Fraction | None:
        """The largest p ≥ 1, not rounded, with S/p ≥ `efficiency` (in (0, 1]); None where every p has it."""

    @abstractmethod
    def limits(self, theta: Sequence[float]) -> dict[str, float | None]:
        """What speed-up or efficiency cannot pass, and where it peaks; None where there is no such limit."""


laws: Registry[Law] = Registry("law", "hockney.models.scaling.laws")
"""Laws of scaling, one file each."""


def exact(value: float) -> Fraction:
    """The decimal number that was written: 0.1 is a tenth, not the nearest binary number."""
    return Fraction(str(value))


def whole_processes(law: Law, efficiency: float, theta: Sequence[float]) -> tuple[int, float] | None:
    """The most processes that keep `efficiency`, as a whole number and before rounding; None: any number does."""
    wanted, exactly = exact(efficiency), [exact(one) for one in theta]
    bound = law.most_processes(wanted, exactly)
    if bound is None:
        return None
    processes = max(1, math.floor(bound))
    # A root is rounded: the whole number that it should be may lie just above.
    if law.speedup(Fraction(processes + 1), exactly) >= wanted * (processes + 1):
        processes += 1
    return processes, float(bound)
