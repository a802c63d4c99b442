"""The four views of a point-to-point fit (document 003, sections 2 and 3)."""

from __future__ import annotations

from hockney.machine.congestion import Congestion
from hockney.machine.file import Entry
from hockney.machine.formula import domain, latex_quantity, latex_right_side, quantity, right_side, slope, stated
from hockney.models.base import Fit
from hockney.models.views import Statement, Views

_LOGGP = ("L", "o_s", "o_r", "G")
_FAR = "T(n); not a bound, every node with the farthest other:"
_FAR_LATEX = r"T(n);\quad \text{not a bound, every node with the farthest other: }"


def views_of(entry: Entry, fit: Fit, congestion: Congestion | None = None) -> Views:
    """T(n), n bytes, from the coarsest statement to the finest.

    `bounded` is equation (2) with the congestion of the machine where the two ranks may sit on different nodes;
    without it the interval that held for points the fit had not seen; nothing where there is neither, or where a
    parameter is negative.
    """
    last = fit.regimes[-1]
    if last.beta_s_per_B.value > 0:
        order, rate = "n", slope(last.beta_s_per_B)
        leading, leading_latex = f"n / {rate} + Θ(1)", rf"\frac{{n}}{{{latex_quantity(rate)}}} + \Theta(1)"
    else:
        order, leading = "1", stated(last.alpha_s)
        leading_latex = latex_quantity(leading)
    views = Views(
        asymptotic=[Statement(text=f"T(n) = Θ({order})", latex=rf"T(n) = \Theta({order})")],
        dominant=[Statement(text=f"T(n) = {leading}", latex=f"T(n) = {leading_latex}", where="n → ∞")],
        exact=[
            Statement(
                text=f"T(n) = {right_side(one)}",
                latex=f"T(n) = {latex_right_side(one)}",
                where=domain(fit, index),
            )
            for index, one in enumerate(fit.regimes)
        ],
    )
    if all(name in fit.parameters for name in _LOGGP):
        views.exact.append(_loggp(fit))
    if not fit.nonphysical:
        shared = congestion if entry.locality in ("network", None) else None
        bounds = [
            _congested(fit, index, shared) if shared else _held_out(fit, index)
            for index in range(len(fit.regimes))
        ]
        views.bounded = [one for one in bounds if one is not None]
    return views


def _congested(fit: Fit, index: int, congestion: Congestion) -> Statement:
    """α + βn ≤ T < α + C·βn; from below only where C is of a pairing that others exceed."""
    regime = fit.regimes[index]
    constant, beta = stated(regime.alpha_s), regime.beta_s_per_B.value
    text, latex = f"T(n) = {constant}", f"T(n) = {latex_quantity(constant)}"
    if beta > 0:
        rate = slope(regime.beta_s_per_B)
        upper, upper_latex = ("T(n) <", "T(n) <") if congestion.is_bound else (_FAR, _FAR_LATEX)
        text = f"{right_side(regime)} ≤ {upper} {constant} + C · n / {rate}, {congestion.definition.text}"
        latex = (
            rf"{latex_right_side(regime)} \le {upper_latex} {latex_quantity(constant)} + "
            rf"C \cdot \frac{{n}}{{{latex_quantity(rate)}}},\quad {congestion.definition.latex}"
        )
    source = f"document 003, equation (2); {congestion.definition.source}"
    return Statement(text=text, latex=latex, where=domain(fit, index), source=source)


def _held_out(fit: Fit, index: int) -> Statement | None:
    factor = fit.quality.prediction_factor if fit.quality else None
    if factor is None:
        return None
    regime, number = fit.regimes[index], f"{factor:.3g}"
    return Statement(
        text=f"({right_side(regime)}) / {number} ≤ T(n) ≤ ({right_side(regime)}) · {number}",
        latex=(
            rf"\frac{{1}}{{{number}}} \left({latex_right_side(regime)}\right) \le T(n) \le "
            rf"{number} \left({latex_right_side(regime)}\right)"
        ),
        where=domain(fit, index),
        source="95 % of the points left out of the fit",
    )


def _loggp(fit: Fit) -> Statement:
    """L + o_s + o_r + (n − 1)G."""
    latency, send, receive = (quantity(fit.parameters[name].value, "s") for name in _LOGGP[:3])
    per_byte = quantity(fit.parameters["G"].value, "s/B")
    return Statement(
        text=f"T(n) = L + o_s + o_r + (n − 1)·G = {latency} + {send} + {receive} + (n − 1) · {per_byte}",
        latex=(
            rf"T(n) = L + o_s + o_r + (n - 1) G = {latex_quantity(latency)} + {latex_quantity(send)} + "
            rf"{latex_quantity(receive)} + (n - 1) \cdot {latex_quantity(per_byte)}"
        ),
        where="n ≥ 1",
        source="Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995",
    )
