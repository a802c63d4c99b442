"""Closed forms as a person reads them, as text and as LaTeX."""

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
_LATEX = (
    ("⌈", r"\lceil "),
    ("⌉", r"\rceil "),
    ("⌊", r"\lfloor "),
    ("⌋", r"\rfloor "),
    ("log₂", r"\log_2 "),
    ("log ", r"\log "),
    ("·", r" \cdot "),
    ("−", "-"),
    ("α", r"\alpha"),
    ("β", r"\beta"),
    ("γ", r"\gamma"),
    ("²", "^2"),
    ("≤", r"\le"),
    ("≥", r"\ge"),
    ("Θ", r"\Theta"),
    ("max", r"\max"),
)


class WrittenTerm(NamedTuple):
    """How often one of α, β, γ counts, and the text that follows: ` α`, ` · 0.21 µs` or ` / 10.9 GB/s`."""

    times: Expression
    symbol: str
    latex: str


def latex(text: str) -> str:
    """A formula without numbers as LaTeX."""
    for plain, mathematics in _LATEX:
        text = text.replace(plain, mathematics)
    return re.sub(r" +", " ", text).strip()


def meanings(form: ClosedForm) -> str:
    """What the letters of a form stand for beside P and n, and for which P it holds."""
    letters = set(re.findall(r"\w+", form.time.short))
    clauses = [meaning for letter, meaning in _MEANING.items() if letter in letters]
    if form.exact.where:
        clauses.append(", else ".join(filter(None, (form.exact.where, form.otherwise))))
    return "; ".join(clauses)


def symbols(counted: CostFormula) -> list[WrittenTerm]:
    """The terms of α, β and γ."""
    return [
        WrittenTerm(counted.alpha, " α", r" \alpha"),
        WrittenTerm(counted.bytes, " β", r" \beta"),
        WrittenTerm(counted.reduced, " γ", r" \gamma"),
    ]


def parts(terms: list[WrittenTerm]) -> list[tuple[str, str]]:
    """Each term whose count is not zero, as text and as LaTeX; a count of one is left out: `α`, `0.21 µs`."""
    return [
        (term.symbol.removeprefix(" · ").strip(), term.latex.removeprefix(r" \cdot ").strip())
        if term.times is ONE
        else (f"{term.times.text()}{term.symbol}", f"{latex(term.times.text())}{term.latex}")
        for term in terms
        if term.times is not ZERO
    ]


def total(terms: list[WrittenTerm]) -> tuple[str, str]:
    """Terms that add up, as text and as LaTeX."""
    written = parts(terms)
    return " + ".join(text for text, _ in written) or "0", " + ".join(tex for _, tex in written) or "0"


def largest(terms: list[WrittenTerm]) -> tuple[str, str]:
    """The largest of the terms, as text and as LaTeX."""
    text, mathematics = (", ".join(column) for column in zip(*parts(terms), strict=True))
    if len(parts(terms)) > 1:
        return f"max({text})", rf"\max\left({mathematics}\right)"
    return text, mathematics
