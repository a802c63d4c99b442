"""The formulas of closed forms as a person reads them, as text and as LaTeX."""

from __future__ import annotations

import re
from typing import NamedTuple

from hockney.models.collectives._forms import ClosedForm

_LETTERS = {"q": "⌈log₂P⌉", "d": "⌊log₂P⌋"}
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


class Term(NamedTuple):
    """How often one of α, β, γ counts, and what stands behind: ` α`, ` · 0.21 µs` or ` / 10.9 GB/s`."""

    times: str
    symbol: str
    latex: str


def written(formula: str) -> str:
    """`2·(d + S − 1)·n/S` → `2·(⌊log₂P⌋ + S − 1)·n/S`."""
    spelled = formula.replace("log(P)", "log P").replace("log(k)", "log k")
    return re.sub(r"\b[qd]\b", lambda letter: _LETTERS[letter[0]], spelled)


def latex(text: str) -> str:
    """A formula without numbers in mathematics."""
    for plain, mathematics in _LATEX:
        text = text.replace(plain, mathematics)
    return re.sub(r" +", " ", text).strip()


def meanings(form: ClosedForm) -> str:
    """What the letters of a form stand for beside P and n, and for which P it holds."""
    letters = set(re.findall(r"\b[rNSk]\b", f"{form.alpha} {form.bytes} {form.reduced}"))
    told = [meaning for letter, meaning in _MEANING.items() if letter in letters]
    match form.exact:
        case "every P":
            pass
        case "even P":
            told.append("P even")
        case _:
            where = "P a power of two" if form.exact == "P = 2^q" else form.exact
            told.append(f"{where}, else {'at most' if form.bounds else 'near it'}")
    return "; ".join(told)


def total(terms: list[Term]) -> tuple[str, str]:
    """Terms that add up, as text and as LaTeX; those that count nothing are left out.

    A count of one is not written before α, nor before a number: `α`, `0.21 µs`.
    """
    kept = [term for term in terms if term.times not in ("", "0")]
    text = " + ".join(
        one.symbol.removeprefix(" · ").strip() if one.times == "1" else f"{written(one.times)}{one.symbol}"
        for one in kept
    )
    mathematics = " + ".join(
        one.latex.removeprefix(r" \cdot ").strip()
        if one.times == "1"
        else f"{latex(written(one.times))}{one.latex}"
        for one in kept
    )
    return text or "0", mathematics or "0"
