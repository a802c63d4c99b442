"""The four views of a point-to-point fit (Hoefler et al. 2010, sections 2 and 3)."""

from __future__ import annotations

from hockney.machine.congestion import Congestion
from hockney.machine.file import Entry
from hockney.machine.formula import domain, latex_quantity, latex_right_side, quantity, right_side, slope, stated
from hockney.models.base import Fit
from hockney.models.views import Statement, Views

_LEFT_OUT = "95 % of the points left out of the fit"
_LOGGP = ("L", "o_s", "o_r", "G")
_FAR = "T(n); not a bound, every node with the farthest other:"
_FAR_LATEX = r"T(n);\quad \text{not a bound, every node with the farthest other: }"


def views_of(entry: Entry, fit: Fit, congestion: Congestion | None = None) -> Views:
    """T(n), n bytes, from the coarsest statement to the finest.

    `bounded` is equation (2) with the congestion of the machine if the two ranks may be on different nodes. If
    the congestion is not known or is 1, it is the interval that held for points the fit had not seen. It is empty
    if there is neither, or if a parameter is negative.
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
                text=f"T(n) = {right_side(regime)}",
                latex=f"T(n) = {latex_right_side(regime)}",
                where=domain(fit, index),
            )
            for index, regime in enumerate(fit.regimes)
        ],
    )
    if all(name in fit.parameters for name in _LOGGP):
        views.exact.append(_loggp(fit))
    if not fit.nonphysical:
        shared = congestion if entry.locality in ("network", None) else None
        bounds = [
            _congested(fit, index, shared) if shared and _is_more(shared) else _held_out(fit, index)
            for index in range(len(fit.regimes))
        ]
        views.bounded = [bound for bound in bounds if bound is not None]
    return views


def _is_more(congestion: Congestion) -> bool:
    """True if equation (2) is an interval; with C = 1 only the scatter of times around the fit remains."""
    return congestion.value is None or congestion.value > 1


def _congested(fit: Fit, index: int, congestion: Congestion) -> Statement | None:
    """(α + βn)/f ≤ T ≤ (α + C·βn)·f: half of the times lie below a fit of medians, so f is on either side.

    If C is that of a pairing that others exceed, the upper end is no bound. f is the factor that held for points
    left out; if it is not known, the statement says that it is about medians.
    """
    regime = fit.regimes[index]
    beta, source = regime.beta_s_per_B.value, f"Hoefler et al. 2010, equation (2); {congestion.definition.source}"
    constant = stated(regime.alpha_s)
    if beta <= 0:
        plain = Statement(
            text=f"T(n) = {constant}",
            latex=f"T(n) = {latex_quantity(constant)}",
            where=domain(fit, index),
            source=source,
        )
        return _held_out(fit, index) or plain
    rate = slope(regime.beta_s_per_B)
    low, low_latex = right_side(regime), latex_right_side(regime)
    high = f"{constant} + C · n / {rate}"
    high_latex = rf"{latex_quantity(constant)} + C \cdot \frac{{n}}{{{latex_quantity(rate)}}}"
    where, factor = domain(fit, index), fit.quality.prediction_factor if fit.quality else None
    if factor is None:
        where = f"{where}; of medians"
    else:
        number, source = f"{factor:.3g}", f"{source}; {_LEFT_OUT}"
        low, high = f"({low}) / {number}", f"({high}) · {number}"
        low_latex = rf"\frac{{1}}{{{number}}} \left({low_latex}\right)"
        high_latex = rf"{number} \left({high_latex}\right)"
    upper, upper_latex = ("T(n) ≤", r"T(n) \le") if congestion.is_bound else (_FAR, _FAR_LATEX)
    return Statement(
        text=f"{low} ≤ {upper} {high}, {congestion.definition.text}",
        latex=rf"{low_latex} \le {upper_latex} {high_latex},\quad {congestion.definition.latex}",
        where=where,
        source=source,
    )


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
        source=_LEFT_OUT,
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
