"""Gustafson (CACM 1988): the work grows with the processes, so that the scaled speed-up is S = s + (1 − s)p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from hockney.models.scaling.laws.base import Law, laws


class Gustafson(Law):
    """Weak scaling; s is the share of the parallel run's time in which one process works alone."""

    title = "Gustafson's law"
    formula = "S(p) = s + (1 − s) p"
    upper: ClassVar[Mapping[str, float]] = {"serial_fraction": 1.0}
    is_weak = True

    def speedup(self, processes: Any, theta: Sequence[Any]) -> Any:
        """S = s + (1 − s)p."""
        return theta[0] + (1 - theta[0]) * processes

    def most_processes(self, efficiency: Fraction, theta: Sequence[Fraction]) -> Fraction | None:
        """The efficiency 1 − s + s/p falls to 1 − s: p ≤ s/(E − (1 − s)) where E is more than that."""
        serial = theta[0]
        above = efficiency - (1 - serial)
        return serial / above if above > 0 else None

    def limits(self, theta: Sequence[float]) -> dict[str, float | None]:
        """The speed-up has no limit; the efficiency stays above 1 − s."""
        return {"speedup_limit": None if theta[0] < 1 else 1.0, "efficiency_limit": 1 - theta[0]}


laws.register("gustafson")(Gustafson())
