"""Four views of a model (Hoefler et al. 2010, section 2): asymptotic, dominant term, bounded, exact by regime."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_serializer

View = Literal["asymptotic", "dominant", "bounded", "exact"]
VIEWS: tuple[View, ...] = get_args(View)


class Statement(BaseModel):
    """One statement about a model: a formula as text and as LaTeX, and where it holds."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    text: str = Field(description="T(n) = 4.5 µs + 2.67 ns/B · n")
    latex: str
    where: str = Field(default="", description="the regime: n ≤ 256 B; empty: everywhere")
    source: str = Field(default="", description="the paper and its equation, or the measurement, behind it")


_QUANTITY = re.compile(
    r"(?<![\w.])(n / )?(\d[\d.]*)(?:e([+-]?\d+))? "
    r"(µ?)((?:[nmkKMGT]i?)?(?:s|B|bit)(?:/[sB])?|million/s|hops?)(?!\w)"
)
"""A number with its unit; what is below `n /` becomes a fraction."""
SYMBOLS = {
    "α": r"\alpha ",
    "β": r"\beta ",
    "γ": r"\gamma ",
    "λ": r"\lambda ",
    "σ": r"\sigma ",
    "Σ": r"\Sigma ",
    "Θ": r"\Theta ",
    "Ω": r"\Omega ",
    "µ": r"\mu ",
    "·": r" \cdot ",
    "×": r"\times ",
    "÷": r"\div ",
    "±": r"\pm ",
    "−": "-",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≈": r"\approx ",
    "→": r"\to ",
    "∈": r"\in ",
    "∞": r"\infty ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "∛": r"\sqrt[3]{\;}",
    "½": r"\tfrac{1}{2}",
    "₁": "_1",
    "₂": "_2",
    "ₙ": "_n",
    "²": "^2",
    "³": "^3",
    "⁴": "^4",
}
"""Signs of formulas in LaTeX's mathematics."""
_WORDS = {
    "T_contiguous": "T_c",
    "wait(": "t_wait(",
    "mean T": r"\overline{T}",
    "effective bisection bandwidth": r"B_{\mathrm{eff}}",
    "for odd k": r"\text{ for odd } k",
    "for even k": r"\text{ for even } k",
    "∛P": r"\sqrt[3]{P}",
    "n·": r"n\,",
    "k·": r"k\,",
    "log₂": r"\log_2 ",
    "log P": r"\log P",
}


def latex(text: str) -> str:
    """A formula in LaTeX's mathematics: `2 µs` → `2\\,\\mu\\mathrm{s}`."""
    text = _QUANTITY.sub(_quantity, text)
    text = re.sub(r"; (not a bound[^:]*:)", r";\\quad \\text{\1 }", text)
    for sign, symbol in (_WORDS | SYMBOLS).items():
        text = text.replace(sign, symbol)
    # What is more than a letter below a symbol stands in braces; a lone l is a script one.
    text = re.sub(r"(?<=[a-zA-Z])_([a-z]{2,})", r"_{\1}", text)
    text = re.sub(r"\b(max|min)\(", r"\\\1(", text)
    text = re.sub(r"(?<![\w\\])l(?!\w)", r"\\ell", text)
    text = re.sub(r"(\\(?:[a-z]+|Theta)) +(?=[),_^])|(\\Theta) +(?=\()", r"\1\2", text)
    return re.sub(r" +", " ", text).strip()


def _quantity(match: re.Match[str]) -> str:
    below, number, exponent, micro, unit = match.groups()
    power = rf" \times 10^{{{int(exponent)}}}" if exponent else ""
    written = number + power + r"\," + micro.replace("µ", r"\mu") + rf"\mathrm{{{unit}}}"
    return rf"\frac{{n}}{{{written}}}" if below else written


def statement(text: str, where: str = "", source: str = "", mathematics: str = "") -> Statement:
    """A statement whose LaTeX, where none is given, is that of its text."""
    return Statement(text=text, latex=mathematics or latex(text), where=where, source=source)


class Views(BaseModel):
    """A model four times, from the coarsest statement to the finest; a view without a statement is empty."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    asymptotic: list[Statement] = Field(default_factory=list, description="Θ: no constants")
    dominant: list[Statement] = Field(default_factory=list, description="the leading term with its constant")
    bounded: list[Statement] = Field(
        default_factory=list, description="what it lies between, whatever is not known"
    )
    exact: list[Statement] = Field(default_factory=list, description="every parameter, one statement a regime")
    _written: tuple[View, ...] = PrivateAttr(VIEWS)

    def of(self, view: View) -> list[Statement]:
        """The statements of one view."""
        return list(getattr(self, view))

    def only(self, chosen: Sequence[View]) -> Views:
        """The chosen views; the others are empty, and not written."""
        views = Views(**{view: self.of(view) for view in chosen})
        views._written = tuple(chosen)
        return views

    @model_serializer
    def _as_written(self) -> dict[View, list[Statement]]:
        return {view: self.of(view) for view in VIEWS if view in self._written}
