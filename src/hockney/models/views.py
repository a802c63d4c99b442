"""Four views of a model (Hoefler et al. 2010, section 2): asymptotic, dominant term, bounded, exact by regime."""

from __future__ import annotations

import re
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

View = Literal["asymptotic", "dominant", "bounded", "exact"]
VIEWS: tuple[View, ...] = get_args(View)


class Statement(BaseModel):
    """One statement about a model: a formula as text and as LaTeX, and where it holds."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="T(n) = 4.5 µs + 2.67 ns/B · n")
    latex: str
    where: str = Field(default="", description="the regime: n ≤ 256 B; empty: everywhere")
    source: str = Field(default="", description="the paper and its equation, or the measurement, behind it")


_QUANTITY = re.compile(r"(?<![\w.])(\d[\d.]*(?:e[+-]?\d+)?) ((?:[nµmkMGT]?(?:s|B)|hops?)(?:/[sB])?)(?!\w)")
_SYMBOLS = {
    "T_contiguous": "T_c",
    "wait(": "t_wait(",
    "mean T": r"\overline{T}",
    "n·": r"n\,",
    "k·": r"k\,",
    "·": r"\cdot",
    "−": "-",
    "≤": r"\le",
    "≥": r"\ge",
    "≈": r"\approx",
    "Θ": r"\Theta",
    "Ω": r"\Omega",
    "effective bisection bandwidth": r"B_{\mathrm{eff}}",
}


def statement(text: str, where: str = "", source: str = "", latex: str = "") -> Statement:
    """A statement whose LaTeX, where none is given, is that of its text: `2 µs` → `2\\,\\mathrm{\\mu s}`."""
    if not latex:
        latex = _QUANTITY.sub(r"\1\\,\\mathrm{\2}", text).replace("µ", r"\mu ")
        for sign, symbol in _SYMBOLS.items():
            latex = latex.replace(sign, symbol)
        # What is more than a letter below a symbol stands in braces; a lone l is a script one.
        latex = re.sub(r"(?<=[a-zA-Z])_([a-z]{2,})", r"_{\1}", latex)
        latex = re.sub(r"\b(max|min)\(", r"\\\1(", latex)
        latex = re.sub(r"(?<![\w\\])l(?!\w)", r"\\ell", latex)
    return Statement(text=text, latex=latex, where=where, source=source)


class Views(BaseModel):
    """A model four times, from the coarsest statement to the finest; a view without a statement is empty."""

    model_config = ConfigDict(extra="forbid")

    asymptotic: list[Statement] = Field(default_factory=list, description="Θ: no constants")
    dominant: list[Statement] = Field(default_factory=list, description="the leading term with its constant")
    bounded: list[Statement] = Field(
        default_factory=list, description="what it lies between, whatever is not known"
    )
    exact: list[Statement] = Field(default_factory=list, description="every parameter, one statement a regime")

    def of(self, view: View) -> list[Statement]:
        """The statements of one view."""
        return list(getattr(self, view))
