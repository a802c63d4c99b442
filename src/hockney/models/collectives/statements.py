"""A fitted model of a collective in four views: Θ, its leading term, what it lies between, every parameter."""

from __future__ import annotations

from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Count, Growth, Term
from hockney.models.collectives.closed_form import P, closed_form, n, q
from hockney.models.collectives.expression import CONSTANT, ONE, Expression, order_text
from hockney.models.views import Statement, Views, statement
from hockney.units import format_bytes, format_rate, format_time

_GROWTHS: dict[Growth, tuple[str, Expression]] = {
    "1": ("", ONE),
    "log2(P)": ("log₂P", q),
    "ceil(log2(P))": ("⌈log₂P⌉", q),
    "P-1": ("(P − 1)", P - 1),
}
"""What a term is multiplied by, in words and as an expression that knows how it grows."""
_BOUND = "95 % of what was left out of the fit lies between"


def views_of_fit(model: CollectiveModel) -> Views:
    """The four views of a fitted model; P is the number of ranks, n the bytes as in the tidy table."""
    exact, bounded, dominant = [], [], []
    of = "T(P, n)" if any(_is_of_bytes(regime) for regime in model.regimes) else "T(P)"
    for regime in model.regimes:
        where, formula = domain(regime), formula_text(model, regime)
        exact.append(_statement(f"{of} = {formula}", where))
        leading, others = _leading(model, regime)
        dominant.append(_statement(f"{of} = {leading}" + (f" + Θ({others})" if others else ""), where))
        factor = model.quality.model_factor if model.quality is not None else None
        if factor is not None:
            low, high = f"({formula})/{factor:.3g}", f"{factor:.3g}·({formula})"
            bounded.append(_statement(f"{low} ≤ {of} ≤ {high}", f"{where}; {_BOUND}"))
    last = model.regimes[-1]
    asymptotic = [_statement(f"{of} = Θ({_order(model, last)})", f"{domain(last)}: no more was measured")]
    return Views(asymptotic=asymptotic, dominant=dominant, bounded=bounded, exact=exact)


def _statement(text: str, where: str) -> Statement:
    return statement(text, where, "fitted to measured times")


def domain(regime: CollectiveRegime) -> str:
    """`2 ≤ P ≤ 32, 8 B ≤ n ≤ 4 KiB`."""
    least, most = regime.min_ranks, regime.max_ranks
    ranks = f"P = {least}" if least == most else f"{least} ≤ P ≤ {most}"
    low_B, high_B = regime.min_B, regime.max_B or 0.0
    if not high_B:
        return ranks
    sizes = (
        f"n = {format_bytes(high_B)}"
        if low_B == high_B
        else f"{format_bytes(low_B)} ≤ n ≤ {format_bytes(high_B)}"
    )
    return f"{ranks}, {sizes}"


def formula_text(model: CollectiveModel, regime: CollectiveRegime) -> str:
    """`13.1 µs + 0.31 µs·log₂P + n·⌈log₂P⌉/(2.1 GB/s)`; what is 0 is left out."""
    parts = [_term_text(model, term) for term in regime.terms if model.parameters[term.parameter].value > 0]
    return " + ".join(parts) or "0"


def _term_text(model: CollectiveModel, term: Term) -> str:
    value = term.factor * model.parameters[term.parameter].value
    if term.counts is not None:
        text = _counted(model, term.counts).text()
        return (
            f"{text} / {format_rate(1 / value)}" if term.counts != "alpha" else _product(format_time(value), text)
        )
    text = _GROWTHS[term.growth][0] if term.growth in _GROWTHS else term.growth
    if term.per_byte:
        return f"{_product('n', text)} / {format_rate(1 / value)}"
    return _product(format_time(value), text)


def _product(left: str, right: str) -> str:
    return " · ".join(filter(None, [left, "" if right == "1" else right]))


def _counted(model: CollectiveModel, count: Count) -> Expression:
    form = closed_form(model.operation, model.algorithm)
    assert form is not None, "checked as the model was made"
    return {"alpha": form.alpha, "bytes": form.bytes, "reduced": form.reduced}[count]


def _expression(model: CollectiveModel, term: Term) -> Expression:
    """What a term grows as."""
    if term.counts is not None:
        return _counted(model, term.counts)
    growth = _GROWTHS[term.growth][1] if term.growth in _GROWTHS else ONE
    return growth * n if term.per_byte else growth


def _grown(model: CollectiveModel, regime: CollectiveRegime) -> list[Term]:
    return [term for term in regime.terms if model.parameters[term.parameter].value > 0]


def _order(model: CollectiveModel, regime: CollectiveRegime, without: Term | None = None) -> str:
    terms = [_expression(model, term) for term in _grown(model, regime) if term is not without]
    total = terms[0] if terms else ONE
    for term in terms[1:]:
        total = total + term
    return order_text(total.order - CONSTANT or CONSTANT)


def _leading(model: CollectiveModel, regime: CollectiveRegime) -> tuple[str, str]:
    """The largest term at the most ranks and bytes of a regime, and how the others grow."""
    terms = _grown(model, regime)
    if not terms:
        return "0", ""
    at = float(regime.max_ranks or regime.min_ranks), float(regime.max_B or regime.min_B)

    def seconds(term: Term) -> float:
        alone = regime.model_copy(update={"terms": [term]})
        return model.at(alone, *at)

    first = max(terms, key=seconds)
    return _term_text(model, first), _order(model, regime, first) if len(terms) > 1 else ""


def _is_of_bytes(regime: CollectiveRegime) -> bool:
    return any(term.per_byte or term.counts in ("bytes", "reduced") for term in regime.terms) or bool(
        regime.max_B
    )
