"""A fitted model of a collective in four views: Θ, its leading term, what it lies between, every parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term, expression
from hockney.models.collectives.closed_form import LAWS, ClosedForm
from hockney.models.collectives.expression import order_of, order_text
from hockney.models.views import Statement, Views, statement
from hockney.units import format_bytes, format_rate, format_time

MOST_WRITTEN = 5
"""Laws that are written out."""
_MEANING = {
    "r": "r = 0 for P a power of two, else 1",
    "N": "N = 2^⌊log₂P⌋",
    "S": "S segments",
    "k": "radix k",
}
_BOUND = "95 % of what was left out of the fit lies between"


def views_of_fit(model: CollectiveModel) -> Views:
    """The four views of a fitted model; P is the number of ranks, n the bytes as in the tidy table.

    Asymptotic are the ranges of the most ranks: how they grow, and how else they may that fits as well.
    """
    exact, bounded, dominant, asymptotic = [], [], [], []
    of = "T(P, n)" if any(_is_of_bytes(regime) for regime in model.regimes) else "T(P)"
    most_ranks = max((regime.max_ranks or 0 for regime in model.regimes), default=0)
    for regime in model.regimes:
        where, formula = domain(regime), formula_text(model, regime)
        exact.append(_statement(f"{of} = {formula}", where + _letters(model, regime)))
        leading, others = _leading(model, regime)
        dominant.append(_statement(f"{of} = {leading}" + (f" + Θ({others})" if others else ""), where))
        factor = model.quality.model_factor if model.quality is not None else None
        if factor is not None:
            low, high = f"({formula})/{factor:.3g}", f"{factor:.3g}·({formula})"
            bounded.append(_statement(f"{low} ≤ {of} ≤ {high}", f"{where}; {_BOUND}"))
        if regime.max_ranks == most_ranks:
            text = growth_text(model, regime)
            note = "; the points fit each of these" if " or " in text else ""
            asymptotic.append(_statement(f"{of} = {text}", f"{where}: no more was measured{note}"))
    return Views(asymptotic=asymptotic, dominant=dominant, bounded=bounded, exact=exact)


def growth_text(model: CollectiveModel, regime: CollectiveRegime) -> str:
    """`Θ(log P) or Θ(P^(1/3))`: how a range grows, and how else it may; only in what was varied."""
    several = regime.min_ranks != regime.max_ranks, regime.min_B != regime.max_B
    rivals = [
        terms
        for terms in regime.rivals
        if (several[0] or all(term.growth == "1" for term in terms))
        and (several[1] or not any(term.per_byte for term in terms))
    ]
    orders = list(dict.fromkeys(f"Θ({_order(model, terms)})" for terms in [regime.terms, *rivals]))
    more = len(orders) - MOST_WRITTEN
    return " or ".join([*orders[:MOST_WRITTEN], *([f"{more} more"] if more > 0 else [])])


def meanings(form: ClosedForm) -> str:
    """What the letters of a form stand for beside P and n, and for which P it holds."""
    letters = set(re.findall(r"\w+", form.time.short))
    clauses = [meaning for letter, meaning in _MEANING.items() if letter in letters]
    if form.exact.where:
        clauses.append(", else ".join(filter(None, (form.exact.where, form.otherwise))))
    return "; ".join(clauses)


def _letters(model: CollectiveModel, regime: CollectiveRegime) -> str:
    """What the letters of a closed form stand for, where one is counted."""
    form = model.closed_form
    counts = form is not None and any(term.counts for term in regime.terms)
    meaning = meanings(form) if form is not None and counts else ""
    return f"; {meaning}" if meaning else ""


def _statement(text: str, where: str) -> Statement:
    return statement(text, where, "fitted to measured times")


def domain(regime: CollectiveRegime) -> str:
    """`2 ≤ P ≤ 32, 8 B ≤ n ≤ 4 KiB`; `P ≥ 2` where there is no end."""
    least, most = regime.min_ranks, regime.max_ranks
    ranks = f"P = {least}" if least == most else f"P ≥ {least}" if most is None else f"{least} ≤ P ≤ {most}"
    low_B, high_B = regime.min_B, regime.max_B or 0.0
    if not high_B:
        return f"{ranks}, n ≥ {format_bytes(low_B)}" if low_B else ranks
    sizes = (
        f"n = {format_bytes(high_B)}"
        if low_B == high_B
        else f"{format_bytes(low_B)} ≤ n ≤ {format_bytes(high_B)}"
    )
    return f"{ranks}, {sizes}"


def formula_text(model: CollectiveModel, regime: CollectiveRegime) -> str:
    """`13.1 µs + 0.31 µs·log₂P + n·⌈log₂P⌉/(2.1 GB/s)`; what is 0 is left out."""
    return " + ".join(_term_text(model, term) for term in _grown(model, regime.terms)) or "0"


def _term_text(model: CollectiveModel, term: Term) -> str:
    value = model.value(term)
    if term.counts is not None:
        text = expression(model.closed_form, term).text()
        return (
            f"{text} / {format_rate(1 / value)}" if term.counts != "alpha" else _product(format_time(value), text)
        )
    text = LAWS[term.growth].text()
    if term.per_byte:
        return f"{_product('n', text)} / {format_rate(1 / value)}"
    return _product(format_time(value), text)


def _product(left: str, right: str) -> str:
    return " · ".join(filter(None, [left, "" if right == "1" else right]))


def _grown(model: CollectiveModel, terms: Sequence[Term]) -> list[Term]:
    return [term for term in terms if model.value(term) > 0]


def _order(model: CollectiveModel, terms: Sequence[Term]) -> str:
    return order_text(order_of([expression(model.closed_form, term) for term in _grown(model, terms)]))


def _leading(model: CollectiveModel, regime: CollectiveRegime) -> tuple[str, str]:
    """The largest term at the most ranks and bytes of a regime, and how the others grow."""
    terms = _grown(model, regime.terms)
    if not terms:
        return "0", ""
    at = float(regime.max_ranks or regime.min_ranks), float(regime.max_B or regime.min_B)
    first = max(terms, key=lambda term: model.at([term], *at))
    return _term_text(model, first), _order(model, [term for term in terms if term is not first]) if terms[
        1:
    ] else ""


def _is_of_bytes(regime: CollectiveRegime) -> bool:
    return any(term.per_byte or term.counts in ("bytes", "reduced") for term in regime.terms) or bool(
        regime.max_B
    )
