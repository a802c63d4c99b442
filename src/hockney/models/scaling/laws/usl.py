"""Universal scalability law (Gunther 2007): Amdahl's with a cost for each pair of processes that must agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from hockney.models.scaling.laws.base import Law, laws


class UniversalScalability(Law):
    """Strong scaling with contention σ and coherency κ; with κ = 0 it is Amdahl's law with s = σ."""

    title = "universal scalability law"
    formula = "S(p) = p / (1 + σ (p − 1) + κ p (p − 1))"
    upper: ClassVar[Mapping[str, float]] = {"contention": 1.0, "coherency": math.inf}

    def speedup(self, processes: Any, theta: Sequence[Any]) -> Any:
        """S = p/(1 + σ(p − 1) + κp(p − 1))."""
        contention, coherency = theta
        return processes / (1 + (contention + coherency * processes) * (processes - 1))

    def most_processes(self, efficiency: Fraction, theta: Sequence[Fraction]) -> float | Fraction | None:
        """(p − 1)(σ + κp) ≤ 1/E − 1, a parabola in p."""
        contention, coherency = theta
        loss = 1 / efficiency - 1
        if not coherency:
            return 1 + loss / contention if contention else None
        # q = p − 1: κq² + (σ + κ)q = loss; this form of the root does not cancel where κ is tiny.
        middle = float(contention + coherency)
        return 1 + 2 * float(loss) / (middle + math.sqrt(middle**2 + 4 * float(coherency * loss)))

    def limits(self, theta: Sequence[float]) -> dict[str, float | None]:
        """With κ > 0 a peak at p* = √((1 − σ)/κ), at least 1, not rounded; without, S < 1/σ."""
        contention, coherency = theta
        if not coherency:
            return {
                "peak_processes": None,
                "peak_speedup": None,
                "speedup_limit": 1 / contention if contention else None,
            }
        peak = max(1.0, math.sqrt((1 - contention) / coherency))
        highest = float(self.speedup(peak, theta))
        return {"peak_processes": peak, "peak_speedup": highest, "speedup_limit": highest}


laws.register("usl")(UniversalScalability())
