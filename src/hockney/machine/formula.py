"""Fitted models as a person reads them: a few numbers with intervals, and T(n) = α + n/bandwidth by regime.

Formulas stand as text and as LaTeX; the numbers are latency, asymptotic bandwidth and n½.
"""

from __future__ import annotations

from hockney.machine.file import Entry, at_level
from hockney.models import _lines
from hockney.models.base import Fit, Parameter, Regime
from hockney.models.views import latex as mathematics
from hockney.records.keys import DIRECTIONS
from hockney.units import format_bytes, format_rate, format_size, format_time

OVERSUBSCRIBED = "measured with more ranks than cores: not a latency"

NOTHING_BESIDE = 1e-3
"""An end of an interval below this share of the other would change none of its three digits: it is zero."""


LAST = 3
"""Points at the end of a curve."""
MOST_REGIMES = 6
"""Lines of a model that a person reads."""


def formulas(fit: Fit) -> list[str]:
    """One line per regime: `T(n) = 0.21 µs + n / 10.9 GB/s for 0 ≤ n ≤ 4 KiB`; as many digits as `stated`."""
    if fit.nonphysical:
        return ["no physical line: a parameter is negative"]
    return [formula(fit, index) for index in regimes_shown(fit)]


def regimes_shown(fit: Fit) -> list[int]:
    """The places of the regimes that are printed."""
    return list(range(len(fit.regimes)))[:MOST_REGIMES]


def stated_alpha(alpha: Parameter) -> str:
    """`0.21 µs`; `≤ 3 µs` where it is not told from zero, `–` where it is negative or nothing bounds it."""
    if alpha.value > 0:
        return quantity(alpha.value, "s")
    return f"≤ {quantity(alpha.high, 's')}" if alpha.value == 0 and alpha.high else "–"


def formula(fit: Fit, index: int) -> str:
    """The line of one regime."""
    return f"T(n) = {right_side(fit.regimes[index])} for {domain(fit, index)}"


def regime_of(fit: Fit, size_B: float) -> int:
    """Which regime a message of that size falls into; a break belongs to the regime below it."""
    return next(
        index for index, regime in enumerate(fit.regimes) if regime.max_B is None or size_B <= regime.max_B
    )


def latex(fit: Fit) -> str:
    """The right-hand side and all: `T(n) = …`, with `cases` (amsmath) where there are several regimes."""
    sides = [mathematics(right_side(regime)) for regime in fit.regimes]
    if len(sides) == 1:
        return f"T(n) = {sides[0]}"
    sizes = [mathematics(domain(fit, index).partition(" (")[0]) for index in range(len(sides))]
    rows = [f"  {side} & \\text{{for }} {size}" for side, size in zip(sides, sizes, strict=True)]
    return "T(n) = \\begin{cases}\n" + " \\\\\n".join(rows) + "\n\\end{cases}"


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """A number with the unit it is stored in, as people write it: (2.1e-7, 's') → `0.21 µs`."""
    match unit:
        case "s":
            return _minus(format_time(value, digits))
        case "B/s":
            return _minus(format_rate(value, digits))
        case "B":
            return format_bytes(value) if value == int(value) else _minus(format_size(value))
        case "1/s" if abs(value) >= 1e5:
            return _minus(f"{value * 1e-6:.{digits}g} million/s")
        case "1":
            return _minus(f"{value:.{digits}g}")
        case "s/B":
            return _minus(f"{value * 1e9:.{digits}g} ns/B")
        case _:
            return _minus(f"{value:.{digits}g} {'' if unit == '1' else unit}".rstrip())


def stated(parameter: Parameter) -> str:
    """Its value: three digits beside an interval, without one the four that papers print."""
    return quantity(parameter.value, parameter.unit, _digits(parameter))


def interval(parameter: Parameter) -> str:
    """`0.2 to 0.23 µs`, or `—` where nothing supports an interval."""
    if parameter.low is None or parameter.high is None:
        return "—"
    low, high = (quantity(end, parameter.unit) for end in (parameter.low, parameter.high))
    number, _, unit = low.partition(" ")
    if abs(parameter.low) < NOTHING_BESIDE * abs(parameter.high):
        return f"0 to {high}"
    # Zero has no unit that would matter.
    return f"{number if parameter.low == 0 or unit == high.partition(' ')[2] else low} to {high}"


def latex_text(text: str) -> str:
    """`text` with what LaTeX would interpret escaped."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in text)


def _minus(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


def slope(parameter: Parameter) -> str:
    """1/|β| as a rate, with as many digits as `stated` has."""
    return format_rate(1 / abs(parameter.value), _digits(parameter))


def _digits(parameter: Parameter) -> int:
    return 4 if parameter.low is None else 3


def _invisible(parameter: Parameter) -> float:
    """A term below this share of that one changes none of the digits printed."""
    return 0.5 * 10.0 ** -_digits(parameter)


def _terms(regime: Regime) -> tuple[float, float]:
    """(α, β), either of them zero where it does not show anywhere in the regime."""
    alpha, beta = regime.alpha_s.value, regime.beta_s_per_B.value
    if regime.max_B is not None and abs(beta) * regime.max_B < _invisible(regime.alpha_s) * abs(alpha):
        return alpha, 0.0
    if abs(alpha) < _invisible(regime.beta_s_per_B) * abs(beta) * regime.min_B:
        return 0.0, beta
    return alpha, beta


def right_side(regime: Regime) -> str:
    """`0.21 µs + n / 10.9 GB/s`; what does not show in the regime is left out."""
    alpha, beta = _terms(regime)
    if beta == 0:
        return stated(regime.alpha_s)
    per_byte = f"n / {slope(regime.beta_s_per_B)}"
    if alpha == 0:
        return per_byte if beta > 0 else f"−{per_byte}"
    return f"{stated(regime.alpha_s)} {'+' if beta > 0 else '−'} {per_byte}"


def domain(fit: Fit, index: int) -> str:
    """The message sizes of one regime, with its label: `0 ≤ n ≤ 4 KiB (eager)`.

    A break belongs to the regime below it.
    """
    regime = fit.regimes[index]
    label = f" ({regime.label})" if regime.label else ""
    is_open = index > 0 and fit.regimes[index - 1].max_B == regime.min_B
    low = _edge(regime.min_B) if int(regime.min_B) else "0"
    if regime.max_B is not None:
        return f"{low} {'<' if is_open else '≤'} n ≤ {_edge(regime.max_B)}{label}"
    return f"n {'>' if is_open else '≥'} {low}{label}"


def _edge(size_B: float) -> str:
    """The end of a regime: exact where it is a few bytes or a round size, else to three digits."""
    text = format_bytes(int(size_B))
    return format_size(size_B) if text.endswith(" B") and size_B >= 10_000 else text


def published(source: str) -> str:
    """The remark on a model that was not measured here."""
    return f"published, not measured: {source}"


def latency(fit: Fit) -> Parameter:
    """T(0): the constant of the first regime, in seconds."""
    return fit.regimes[0].alpha_s


def bandwidth(entry: Entry, fit: Fit) -> Parameter | None:
    """lim n/T(n), times the messages that pass in T, in B/s; None where T does not grow.

    T is that of the last regime with two measured sizes or more, because a single size shows no slope; of
    the last regime where nothing was measured. The interval holds what the `LAST` points reach beyond α.
    """
    regime, factor = _regimes_with_slope(entry, fit)[-1], DIRECTIONS.get(entry.operation, 1)
    beta, alpha_s = regime.beta_s_per_B, regime.alpha_s.value
    rate = beta.inverse.scaled(factor, "B/s") if beta.value else None
    if rate is None or rate.low is None or rate.high is None or rate.value < 0:
        return rate
    reached = [
        factor * point.size_B / (point.time_s - alpha_s)
        for point in at_level(entry.measurements.points)[-LAST:]
        if point.size_B > regime.min_B and point.time_s > alpha_s
    ]
    return rate.model_copy(update={"low": min([rate.low, *reached]), "high": max([rate.high, *reached])})


def slope_sizes_B(entry: Entry, fit: Fit) -> list[int]:
    """The measured sizes that the bandwidth rests on, in bytes."""
    regime = _regimes_with_slope(entry, fit)[-1]
    return [point.size_B for point in at_level(entry.measurements.points) if _holds(regime, point.size_B)]


def half_bandwidth_size(entry: Entry, fit: Fit) -> Parameter | None:
    """n½ of that bandwidth, in bytes; None where T does not grow."""
    regimes = _regimes_with_slope(entry, fit)
    return fit.n_half_B if len(regimes) == len(fit.regimes) else _lines.half_bandwidth_size(regimes)


def _regimes_with_slope(entry: Entry, fit: Fit) -> list[Regime]:
    """The regimes to the last one whose slope was measured; all where nothing was measured."""
    sizes_B = [point.size_B for point in entry.measurements.points]
    last = max(
        (
            number
            for number, regime in enumerate(fit.regimes)
            if sum(_holds(regime, size_B) for size_B in sizes_B) > 1
        ),
        default=len(fit.regimes) - 1,
    )
    return fit.regimes[: last + 1]


def _holds(regime: Regime, size_B: float) -> bool:
    begins = regime.min_B < size_B or size_B == 0 == regime.min_B
    return begins and (regime.max_B is None or size_B <= regime.max_B)
