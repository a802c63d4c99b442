"""Laws of scaling: each a speed-up as a function of processes, its parameters, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from hockney.registry import Registry


@dataclass(frozen=True)
class Law:
    """A speed-up S(p; θ) with S(1) = 1. Every parameter is a number without a unit, at least 0.

    `title`: the name as people say it; `upper`: the parameters in their order, with the largest value that each
    may have. `speedup`: S at some processes, in the arithmetic of its arguments: fractions stay exact, arrays
    keep their shape. `most_processes`: the largest p ≥ 1, not rounded, with S/p ≥ an efficiency in (0, 1]; None
    where every p has it. `limits`: what speed-up or efficiency cannot pass, and where it peaks; None where there
    is none. `is_weak`: the work grows with the processes, and S is the scaled speed-up p·T(1)/T(p).
    """

    title: str
    formula: str
    upper: Mapping[str, float]
    speedup: Callable[[Any, Sequence[Any]], Any]
    most_processes: Callable[[Fraction, Sequence[Fraction]], float | Fraction | None]
    limits: Callable[[Sequence[float]], dict[str, float | None]]
    is_weak: bool = False


laws: Registry[Law] = Registry("law", "hockney.models.scaling.laws", "how-to/scaling.md")
"""Laws of scaling by name."""


def exact(value: float) -> Fraction:
    """The decimal number that was written: 0.1 is a tenth, not the nearest binary number."""
    return Fraction(str(value))


def whole_processes(law: Law, efficiency: float, theta: Sequence[float]) -> tuple[int, float] | None:
    """The most processes that keep `efficiency`, as a whole number and before rounding; None: any number does."""
    target, exactly = exact(efficiency), [exact(parameter) for parameter in theta]
    bound = law.most_processes(target, exactly)
    if bound is None:
        return None
    processes = max(1, math.floor(bound))
    # A root is rounded: the whole number that it should be may lie just above.
    if law.speedup(Fraction(processes + 1), exactly) >= target * (processes + 1):
        processes += 1
    return processes, float(bound)


def _shared(processes: Any, theta: Sequence[Any]) -> Any:
    """S of a cost of each further process, θ₀, and of each pair of them, θ₁ where there is one."""
    contention, coherency = (*theta, 0)[:2]
    return processes / (1 + (contention + coherency * processes) * (processes - 1))


def _most_shared(efficiency: Fraction, theta: Sequence[Fraction]) -> float | Fraction | None:
    """(p − 1)(σ + κp) ≤ 1/E − 1, a parabola in p, or a line where κ = 0."""
    contention, coherency = (*theta, Fraction(0))[:2]
    loss = 1 / efficiency - 1
    if not coherency:
        return 1 + loss / contention if contention else None
    # q = p − 1: κq² + (σ + κ)q = loss; this form of the root does not cancel where κ is tiny.
    middle = float(contention + coherency)
    return 1 + 2 * float(loss) / (middle + math.sqrt(middle**2 + 4 * float(coherency * loss)))


def _one_over(theta: Sequence[float]) -> dict[str, float | None]:
    """S < 1/θ₀, however many processes there are."""
    return {"speedup_limit": 1 / theta[0] if theta[0] else None}


def _peak(theta: Sequence[float]) -> dict[str, float | None]:
    """A peak at p* = √((1 − σ)/κ) where κ > 0, at least 1, not rounded; S < 1/σ where κ = 0."""
    contention, coherency = theta
    if not coherency:
        return {"peak_processes": None, "peak_speedup": None, **_one_over(theta)}
    peak = max(1.0, math.sqrt((1 - contention) / coherency))
    highest = float(_shared(peak, theta))
    return {"peak_processes": peak, "peak_speedup": highest, "speedup_limit": highest}


def _most_of_gustafson(efficiency: Fraction, theta: Sequence[Fraction]) -> Fraction | None:
    """The efficiency 1 − s + s/p falls to 1 − s: p ≤ s/(E − (1 − s)) where E is more than that."""
    above = efficiency - (1 - theta[0])
    return theta[0] / above if above > 0 else None


# Amdahl (AFIPS 1967): the work is fixed, a share s of it does not run in parallel: S = 1/(s + (1 − s)/p).
laws.register("amdahl")(
    Law("Amdahl's law", "S(p) = p / (1 + s (p − 1))", {"serial_fraction": 1.0}, _shared, _most_shared, _one_over)
)
# Gustafson (CACM 1988): the work grows with the processes; s is the share of the parallel run's time in which one
# process works alone. The speed-up has no limit; the efficiency stays above 1 − s.
laws.register("gustafson")(
    Law(
        "Gustafson's law",
        "S(p) = s + (1 − s) p",
        {"serial_fraction": 1.0},
        lambda processes, theta: theta[0] + (1 - theta[0]) * processes,
        _most_of_gustafson,
        lambda theta: {"speedup_limit": None if theta[0] < 1 else 1.0, "efficiency_limit": 1 - theta[0]},
        is_weak=True,
    )
)
# Each further process adds the same share c to the time, T(p) = T(1)(1 + c(p − 1)): the efficiency is that of
# Amdahl's law without a floor; Gunther (2007) calls it contention. Where Gustafson's time levels off, it
# grows on.
laws.register("growing_overhead")(
    Law(
        "overhead that grows with the processes",
        "S(p) = p / (1 + c (p − 1))",
        {"overhead_per_process": 1.0},
        _shared,
        _most_shared,
        _one_over,
        is_weak=True,
    )
)
# Gunther (2007): Amdahl's law with a cost κ for each pair of processes that must agree; σ is the contention.
laws.register("usl")(
    Law(
        "universal scalability law",
        "S(p) = p / (1 + σ (p − 1) + κ p (p − 1))",
        {"contention": 1.0, "coherency": math.inf},
        _shared,
        _most_shared,
        _peak,
    )
)


@dataclass(frozen=True)
class LawPoint:
    """Speed-up by a law."""

    processes: int
    speedup: float
    efficiency: float


@dataclass(frozen=True, kw_only=True)
class LawAnswer:
    """A law and what follows from it; a parameter that it has not, or a limit that there is none of, is null."""

    law: str
    serial_fraction: float | None = None
    parallel_fraction: float | None = None
    contention: float | None = None
    coherency: float | None = None
    speedup_limit: float | None = None
    efficiency_limit: float | None = None
    peak_processes: float | None = None
    peak_speedup: float | None = None
    efficiency: float | None
    max_processes: int | None
    max_processes_bound: float | None
    points: list[LawPoint]
    title: Annotated[str, Field(exclude=True)]
    formula: Annotated[str, Field(exclude=True)]
    parameters: Annotated[dict[str, float], Field(exclude=True)]
    limits: Annotated[dict[str, float | None], Field(exclude=True)]


def answer(name: str, theta: Sequence[float], efficiency: float | None, counts: Sequence[int]) -> LawAnswer:
    """What follows from a law: its limits, the most processes for an efficiency, and points of its curve."""
    law = laws.get(name)
    parameters = dict(zip(law.upper, theta, strict=True))
    exactly = [exact(parameter) for parameter in theta]
    most, bound = (efficiency and whole_processes(law, efficiency, theta)) or (None, None)
    speedups = [law.speedup(Fraction(count), exactly) for count in counts]
    limits = law.limits(theta)
    return LawAnswer(
        law=name,
        **parameters,
        parallel_fraction=float(1 - exactly[0]) if "serial_fraction" in parameters else None,
        **limits,
        efficiency=efficiency,
        max_processes=most,
        max_processes_bound=bound,
        points=[
            LawPoint(count, float(speedup), float(speedup / count))
            for count, speedup in zip(counts, speedups, strict=True)
        ],
        title=law.title,
        formula=law.formula,
        parameters=parameters,
        limits=limits,
    )
