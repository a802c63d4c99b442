"""Closed forms as a person reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from hockney.models.collectives.closed_form import ClosedForm, CostFormula
from hockney.models.collectives.expression import ONE, ZERO, Expression

_MEANING = {
    "r": "r = 0 for P a power of two, else 1",
    "N": "N = 2^⌊log₂P⌋",
    "S": "S segments",
    "k": "radix k",
}


class WrittenTerm(NamedTuple):
    """How often one of α, β, γ counts, and the text that follows: ` α`, ` · 0.21 µs` or ` / 10.9 GB/s`."""

    times: Expression
    symbol: str


def meanings(form: ClosedForm) -> str:
    """What the letters of a form stand for beside P and n, and for which P it holds."""
    letters = set(re.findall(r"\w+", form.time.short))
    clauses = [meaning for letter, meaning in _MEANING.items() if letter in letters]
    if form.exact.where:
        clauses.append(", else ".join(filter(None, (form.exact.where, form.otherwise))))
    return "; ".join(clauses)


def symbols(counted: CostFormula) -> list[WrittenTerm]:
    """The terms of α, β and γ."""
    counts = (counted.alpha, counted.bytes, counted.reduced)
    return [WrittenTerm(times, symbol) for times, symbol in zip(counts, (" α", " β", " γ"), strict=True)]


def _parts(terms: list[WrittenTerm]) -> list[str]:
    """Each term whose count is not zero; a count of one is left out: `α`, `0.21 µs`."""
    return [
        term.symbol.removeprefix(" · ").strip() if term.times is ONE else f"{term.times.text()}{term.symbol}"
        for term in terms
        if term.times is not ZERO
    ]


def total(terms: list[WrittenTerm]) -> str:
    """Terms that add up."""
    return " + ".join(_parts(terms)) or "0"


def largest(terms: list[WrittenTerm]) -> str:
    """The largest of the terms."""
    written = _parts(terms)
    return f"max({', '.join(written)})" if len(written) > 1 else written[0]
