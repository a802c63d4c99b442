"""Amdahl (AFIPS 1967): the work is fixed, a share s of it does not run in parallel: S = 1/(s + (1 − s)/p)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from hockney.models.scaling.laws.base import Law, laws


class Amdahl(Law):
    """Strong scaling with a serial fraction. The efficiency is 1/(s·p + 1 − s)."""

    title = "Amdahl's law"
    formula = "S(p) = p / (1 + s (p − 1))"
    upper: ClassVar[Mapping[str, float]] = {"serial_fraction": 1.0}

    def speedup(self, processes: Any, theta: Sequence[Any]) -> Any:
        """S = p/(1 + s(p − 1)), which is 1/(s + (1 − s)/p)."""
        return processes / (1 + theta[0] * (processes - 1))

    def most_processes(self, efficiency: Fraction, theta: Sequence[Fraction]) -> Fraction | None:
        """p ≤ (1/E − (1 − s))/s."""
        serial = theta[0]
        return (1 / efficiency - (1 - serial)) / serial if serial else None

    def limits(self, theta: Sequence[float]) -> dict[str, float | None]:
        """S < 1/s, however many processes there are."""
        return {"speedup_limit": 1 / theta[0] if theta[0] else None}


laws.register("amdahl")(Amdahl())
