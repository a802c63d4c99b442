"""Formulas of closed forms: one expression gives the number, the text and how a formula grows."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Number = float | NDArray[np.float64]


class FormulaCall(NamedTuple):
    """One call, or arrays of calls: `m` is the vector or block in bytes; `segment` 0: none, `radix` 0: 4."""

    ranks: Number
    m: Number
    segment: Number = 0.0
    radix: Number = 0


class Powers(NamedTuple):
    """Exponents of n, S, P and log P in a product."""

    n: int = 0
    S: int = 0
    P: int | Fraction = 0
    log: int = 0

    def __str__(self) -> str:
        powers = list(zip(("n", "S", "P", "log P"), self, strict=True))
        signs: dict[int | Fraction, str] = {1: "", 2: "²"}
        numerator = " ".join(name + signs.get(power, f"^({power})") for name, power in powers if power > 0)
        return (numerator or "1") + "".join(f"/{name}" for name, power in powers if power < 0)

    def exceeds(self, other: Powers) -> bool:
        """Whether it is no less than `other` for many ranks, whatever n and S ≥ 1 are."""
        return self.n == other.n and self.S >= other.S and (self.P, self.log) >= (other.P, other.log)


Order = frozenset[Powers]
"""The products that add up in Θ(…)."""
CONSTANT: Order = frozenset({Powers()})


def grows(n: int = 0, S: int = 0, P: int | Fraction = 0, log: int = 0) -> Order:
    """Θ of a single product."""
    return frozenset({Powers(n, S, P, log)})


def order_text(order: Order) -> str:
    """`S + log P`; `1` for what does not grow."""
    return " + ".join(map(str, sorted(order, key=lambda growth: (-growth.S, growth))))


def _leading(growths: Iterable[Powers]) -> Order:
    every = frozenset(growths)
    return frozenset(growth for growth in every if not any(other.exceeds(growth) for other in every - {growth}))


Sign = Literal["+", "−", "·", "/"]
_APPLY = {"+": operator.add, "−": operator.sub, "·": operator.mul, "/": operator.truediv}


@dataclass(frozen=True, eq=False)
class Expression:
    """A formula; Python's `+`, `-`, `*` and `/` join two.

    `value` is the number for a call, or the array for arrays of calls; `short` the text with q for ⌈log₂P⌉,
    `spelled` the text without it; `coefficients` the factors of the symbols in which the formula is linear.
    """

    short: str
    value: Callable[[FormulaCall], Number] = lambda _: math.nan
    order: Order = CONSTANT
    spelled: str = ""
    precedence: int = 3
    coefficients: Mapping[str, Expression] = field(default_factory=dict)

    def text(self, spelled: bool = True, precedence: int = 2) -> str:
        """The text in front of a unit or in a product: a sum gets parentheses."""
        text = (spelled and self.spelled) or self.short
        return f"({text})" if self.precedence < precedence else text

    def coefficient(self, symbol: Expression) -> Expression:
        """The factor of a symbol; zero where the formula does not contain it."""
        return self.coefficients.get(symbol.short, ZERO)

    def __add__(self, other: Expression | int) -> Expression:
        return _join("+", self, _expression(other))

    def __sub__(self, other: Expression | int) -> Expression:
        return _join("−", self, _expression(other))

    def __mul__(self, other: Expression) -> Expression:
        return _join("·", self, other)

    def __rmul__(self, other: int) -> Expression:
        return _expression(other) * self

    def __truediv__(self, other: Expression | int) -> Expression:
        return _join("/", self, _expression(other))


def _expression(operand: Expression | int) -> Expression:
    return Expression(str(operand), lambda _: float(operand)) if isinstance(operand, int) else operand


ZERO, ONE = _expression(0), _expression(1)


def order_of(terms: Sequence[Expression]) -> Order:
    """How terms grow together, whatever does not."""
    total = sum(terms[1:], start=terms[0]) if terms else ONE
    return total.order - CONSTANT or CONSTANT


def symbol(name: str) -> Expression:
    """A letter without a number: its value is NaN. Formulas are linear in it."""
    return Expression(name, coefficients={name: ONE})


def ceiling(inner: Expression) -> Expression:
    """⌈inner⌉, one at least."""
    return Expression(
        f"⌈{inner.text(spelled=False, precedence=0)}⌉",
        lambda case: np.ceil(inner.value(case)),
        _leading(inner.order | CONSTANT),
        f"⌈{inner.text(precedence=0)}⌉",
    )


def _join(sign: Sign, left: Expression, right: Expression) -> Expression:
    """Both formulas with the parentheses they need: `a − (b − c)`, `a/(b·c)`, but `a·b/c`; no `1·`, no `+ 0`."""
    if sign == "·" and ZERO in (left, right):
        return ZERO
    if neutral := {"+": ZERO, "·": ONE}.get(sign):
        if left is neutral:
            return right
        if right is neutral:
            return left
    precedence = 1 if sign in "+−" else 2
    space = " " if sign in "+−" else ""
    short, spelled = (
        left.text(style, precedence) + space + sign + space + right.text(style, precedence + (sign in "−/"))
        for style in (False, True)
    )
    return Expression(
        short,
        lambda case: _APPLY[sign](left.value(case), right.value(case)),
        _joined_order(sign, left.order, right.order),
        spelled,
        precedence,
        _joined_coefficients(sign, left, right),
    )


def _joined_order(sign: Sign, left: Order, right: Order) -> Order:
    """The order of the result; a difference grows as a sum. ValueError for division by a sum."""
    if sign in "+−":
        return _leading(left | right)
    if sign == "/" and len(right) > 1:
        raise ValueError(f"no order of a division by {order_text(right)}")
    factor = 1 if sign == "·" else -1
    return _leading(
        Powers(a.n + factor * b.n, a.S + factor * b.S, a.P + factor * b.P, a.log + factor * b.log)
        for a, b in product(left, right)
    )


def _joined_coefficients(sign: Sign, left: Expression, right: Expression) -> dict[str, Expression]:
    """The derivatives by each symbol; ValueError where the formula is not linear."""
    match sign:
        case "+":
            names = {**left.coefficients, **right.coefficients}
            return {
                name: left.coefficients.get(name, ZERO) + right.coefficients.get(name, ZERO) for name in names
            }
        case "·" if not (left.coefficients and right.coefficients):
            return {name: left * factor for name, factor in right.coefficients.items()} | {
                name: factor * right for name, factor in left.coefficients.items()
            }
        case "/" | "−" if not right.coefficients:
            return {name: factor / right if sign == "/" else factor for name, factor in left.coefficients.items()}
    raise ValueError(f"not linear in {', '.join(right.coefficients)}")
