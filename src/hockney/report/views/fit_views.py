"""The four views of a point-to-point fit (Hoefler et al. 2010, sections 2 and 3)."""

from __future__ import annotations

from hockney.machine.congestion import Congestion
from hockney.machine.file import Entry
from hockney.machine.formula import domain, quantity, regimes_shown, right_side, slope, stated
from hockney.models.base import Fit
from hockney.models.views import Statement, Views, statement

_LEFT_OUT = "95 % of the points left out of the fit"
_LOGGP = ("L", "o_s", "o_r", "G")


def views_of(entry: Entry, fit: Fit, congestion: Congestion | None = None) -> Views:
    """T(n), n bytes, from the coarsest statement to the finest.

    `bounded` is equation (2) with the congestion of the machine if the two ranks may be on different nodes. If
    the congestion is not known or is 1, it is the interval that held for points the fit had not seen. It is empty
    if there is neither, or if a parameter is negative.
    """
    last = fit.regimes[-1]
    order, leading = "1", stated(last.alpha_s)
    if last.beta_s_per_B.value > 0:
        order, leading = "n", f"n / {slope(last.beta_s_per_B)} + Θ(1)"
    views = Views(
        asymptotic=[statement(f"T(n) = Θ({order})")],
        dominant=[statement(f"T(n) = {leading}", "n → ∞")],
        exact=[
            statement(f"T(n) = {right_side(regime)}", domain(fit, index))
            for index in regimes_shown(fit)
            for regime in [fit.regimes[index]]
        ],
    )
    if all(name in fit.parameters for name in _LOGGP):
        views.exact.append(_loggp(fit))
    if not fit.nonphysical:
        shared = congestion if entry.locality in ("network", None) else None
        # With C = 1 only the scatter of times around the fit remains.
        if shared is not None and shared.value is not None and shared.value <= 1:
            shared = None
        bounds = [
            _held_out(fit, index) if shared is None else _congested(fit, index, shared)
            for index in regimes_shown(fit)
        ]
        views.bounded = [bound for bound in bounds if bound is not None]
    return views


def _congested(fit: Fit, index: int, congestion: Congestion) -> Statement | None:
    """(α + βn)/f ≤ T ≤ (α + C·βn)·f: half of the times lie below a fit of medians, so f is on either side.

    If C is that of a pairing that others exceed, the upper end is no bound. f is the factor that held for points
    left out; if it is not known, the statement says that it is about medians.
    """
    regime, where = fit.regimes[index], domain(fit, index)
    source = f"Hoefler et al. 2010, equation (2); {congestion.definition.source}"
    constant = stated(regime.alpha_s)
    if regime.beta_s_per_B.value <= 0:
        return _held_out(fit, index) or statement(f"T(n) = {constant}", where, source)
    low, high = right_side(regime), f"{constant} + C · n / {slope(regime.beta_s_per_B)}"
    factor = fit.quality.line_factor if fit.quality else None
    if factor is None:
        where = f"{where}; of medians"
    else:
        source = f"{source}; {_LEFT_OUT}"
        low, high = f"({low}) / {factor:.3g}", f"({high}) · {factor:.3g}"
    relation = " ≤" if congestion.is_bound else "; not a bound, every node with the farthest other:"
    return statement(f"{low} ≤ T(n){relation} {high}, {congestion.definition.text}", where, source)


def _held_out(fit: Fit, index: int) -> Statement | None:
    factor = fit.quality.line_factor if fit.quality else None
    if factor is None:
        return None
    side = f"({right_side(fit.regimes[index])})"
    return statement(f"{side} / {factor:.3g} ≤ T(n) ≤ {side} · {factor:.3g}", domain(fit, index), _LEFT_OUT)


def _loggp(fit: Fit) -> Statement:
    """L + o_s + o_r + (n − 1)G."""
    *times, per_byte = (quantity(fit.parameters[name].value, fit.parameters[name].unit) for name in _LOGGP)
    text = f"T(n) = L + o_s + o_r + (n − 1)·G = {' + '.join(times)} + (n − 1) · {per_byte}"
    return statement(text, "n ≥ 1", "Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995")
