"""Times in the formulas of the models of effects, as text and as LaTeX."""

from __future__ import annotations

from hockney.units import format_time


def time(seconds: float) -> str:
    """5.2e-9 → `5.2 ns`, 1.3e-6 → `1.3 µs`."""
    return f"{seconds * 1e9:.3g} ns" if abs(seconds) < 0.9995e-6 else format_time(seconds)


def latex(seconds: float) -> str:
    r"""5.2e-9 → `5.2\,\mathrm{ns}`."""
    number, _, unit = time(seconds).partition(" ")
    symbol = unit.replace("µ", r"\mu ")
    return rf"{number}\,\mathrm{{{symbol}}}"
