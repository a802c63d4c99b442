"""Times and factors in the formulas of the models of effects, as text and as LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from hockney.units import format_time


def time(seconds: float) -> str:
    """5.2e-9 → `5.2 ns`, 1.3e-6 → `1.3 µs`."""
    return f"{seconds * 1e9:.3g} ns" if abs(seconds) < 0.9995e-6 else format_time(seconds)


def latex(seconds: float) -> str:
    r"""5.2e-9 → `5.2\,\mathrm{ns}`."""
    number, _, unit = time(seconds).partition(" ")
    symbol = unit.replace("µ", r"\mu ")
    return rf"{number}\,\mathrm{{{symbol}}}"


PRINTED = 0.005
"""Relative error of a number with three digits."""


def below(ratios: Iterable[float]) -> float:
    """What a formula is multiplied by to hold all from below, of ratios measured/formula; 1 where it does."""
    least = min(ratios, default=1.0)
    return 1.0 if least >= 1 - PRINTED else _two_digits(least, math.floor)


def above(ratios: Iterable[float]) -> float:
    """The same from above."""
    most = max(ratios, default=1.0)
    return 1.0 if most <= 1 + PRINTED else _two_digits(most, math.ceil)


def _two_digits(value: float, rounding: Callable[[float], int]) -> float:
    scale = 10.0 ** (math.floor(math.log10(value)) - 1)
    return rounding(value / scale) * scale


def times(factor: float, text: str) -> str:
    """0.73, `3 µs + n` → `0.73 · (3 µs + n)`."""
    return text if factor == 1 else f"{factor:.2g} · {_together(text)}"


def times_latex(factor: float, text: str) -> str:
    r"""0.73, `a + b` → `0.73 \cdot (a + b)`."""
    return text if factor == 1 else rf"{factor:.2g} \cdot {_together(text)}"


def _together(text: str) -> str:
    return f"({text})" if " + " in text else text
