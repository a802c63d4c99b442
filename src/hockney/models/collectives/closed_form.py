"""What a closed form of an algorithm is: T as one expression in α, β and γ, and for which P it is exact.

Every message costs α + nβ, every reduced byte γ. A closed form knows nothing of placement, protocols or overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from hockney.models.collectives._torus import alltoall_factor
from hockney.models.collectives.expression import (
    ONE,
    Expression,
    FormulaCall,
    Number,
    grows,
    order_text,
    symbol,
)
from hockney.registry import Registry

RADIX = 4
"""Open MPI's fan-out of `chain` and radix of `knomial` unless the table says otherwise."""


def _radix(case: FormulaCall) -> Number:
    return np.where(case.radix > 0, case.radix, RADIX)


def _levels(case: FormulaCall) -> Number:
    radix = _radix(case)
    # log 64/log 4 is 3 and a little more: rounded to the nearest level, and one more where that is too few.
    levels = np.rint(np.log(case.ranks) / np.log(radix))
    return levels + (radix**levels < case.ranks)


def _log(case: FormulaCall) -> Number:
    """⌈log₂P⌉: the binary digits of P − 1."""
    return np.frexp(case.ranks - 1)[1] + 0.0


def _floor(case: FormulaCall) -> Number:
    """⌊log₂P⌋: the binary digits of P but one."""
    return np.frexp(case.ranks)[1] - 1.0


def segments_of(part: Expression) -> Expression:
    """S, the number of segments of a part of the message; 1 where it is not cut."""

    def segments(case: FormulaCall) -> Number:
        return np.maximum(1.0, np.ceil(part.value(case) / np.where(case.segment > 0, case.segment, np.inf)))

    return Expression("S", segments, grows(S=1))


P = Expression("P", lambda case: case.ranks, grows(P=1))
n = Expression("n", lambda case: case.m, grows(n=1))
q = Expression("q", _log, grows(log=1), "⌈log₂P⌉")
d = Expression("d", _floor, grows(log=1), "⌊log₂P⌋")
"""⌊log₂P⌋ is also the depth of a complete binary tree, ⌈log₂(P + 1)⌉ − 1 edges."""
r = Expression("r", lambda case: _log(case) - _floor(case))
N = Expression("N", lambda case: 2.0 ** _floor(case), grows(P=1))
S = segments_of(n)
k = Expression("k", _radix)
chains = Expression("k", lambda case: np.minimum(_radix(case), case.ranks - 1))
"""The radix, but at most one chain for each rank beside the root."""
levels = Expression("⌈log P/log k⌉", _levels, grows(log=1))
alpha, beta, gamma = symbol("α"), symbol("β"), symbol("γ")

log2P = Expression("log₂P", lambda case: np.log2(case.ranks), grows(log=1))
LAWS: Mapping[str, Expression] = {
    "1": ONE,
    "log2(P)": log2P,
    "ceil(log2(P))": q,
    "floor(log2(P))+2r": d + 2 * r,
    "P^(1/3)": Expression("P^(1/3)", lambda case: np.cbrt(case.ranks), grows(P=Fraction(1, 3))),
    "P-1": P - 1,
    "P log2(P)": P * log2P,
    "P^(4/3)": Expression("P^(4/3)", lambda case: np.cbrt(case.ranks) ** 4, grows(P=Fraction(4, 3))),
    "max((P-1)/6, C)": Expression(
        "max((P−1)/6, C)",
        lambda case: np.array([alltoall_factor(int(ranks)) for ranks in np.atleast_1d(case.ranks).tolist()]),
        grows(P=Fraction(4, 3)),
    ),
}
"""Every law of growth with the ranks: its numbers, its text and its Θ. P^(1/3) and P^(4/3) are those of a cubic
torus (Hoefler et al. 2010, section 4)."""


class Condition(NamedTuple):
    """The ranks for which a form equals the schedule's counts, in the words of a docs table and of a view."""

    column: str
    where: str
    holds: Callable[[int, int], bool]
    """A function of ranks and radix."""


EVERY_P = Condition("every P", "", lambda _ranks, _radix: True)
IN_TURNS = Condition(
    "P ≥ 3, rendezvous", "P ≥ 3 and each send waits for its receive (rendezvous)", lambda ranks, _: ranks >= 3
)
EVEN_P = Condition("even P", "P even", lambda ranks, _: ranks % 2 == 0)
POWER_OF_TWO = Condition("P = 2^q", "P a power of two", lambda ranks, _: ranks & (ranks - 1) == 0)
FULL_TREE = Condition("P = 2^h − 1", "P = 2^h − 1", lambda ranks, _: ranks & (ranks + 1) == 0)
POWER_OF_RADIX = Condition(
    "P = k^d", "P = k^d", lambda ranks, radix: radix ** round(math.log(ranks, radix)) == ranks
)
EQUAL_CHAINS = Condition(
    "k divides P − 1", "k | P − 1", lambda ranks, radix: (ranks - 1) % min(radix, ranks - 1) == 0
)


class TermCounts(NamedTuple):
    """T = alpha · α + bytes · β + reduced · γ."""

    alpha: Number
    bytes: Number
    reduced: Number = 0.0


@dataclass(frozen=True)
class CostFormula:
    """A time in P (ranks) and n (bytes: vector or block) that is linear in α, β and γ."""

    time: Expression

    @property
    def alpha(self) -> Expression:
        """How often α counts."""
        return self.time.coefficient(alpha)

    @property
    def bytes(self) -> Expression:
        """How often β counts."""
        return self.time.coefficient(beta)

    @property
    def reduced(self) -> Expression:
        """How often γ counts."""
        return self.time.coefficient(gamma)

    def counts(self, case: FormulaCall) -> TermCounts:
        """How often each counts, in one case or in arrays of cases."""
        return TermCounts(self.alpha.value(case), self.bytes.value(case), self.reduced.value(case))


@dataclass(frozen=True)
class Optimum(CostFormula):
    """A bound that no algorithm beats: T is no less than any single term of `time`.

    Chan et al. (2007), table 1; for alltoall Bruck et al. (1997).
    """

    source: str


@dataclass(frozen=True)
class ClosedForm(CostFormula):
    """T of an algorithm, which equals the schedule's counts where `exact` holds.

    `otherwise` says whether it is an upper bound or near them elsewhere; empty: no other number of ranks can run.
    """

    source: str
    exact: Condition = EVERY_P
    otherwise: Literal["at most", "near it", ""] = "at most"

    def is_exact(self, ranks: int, radix: int = 0) -> bool:
        """Whether the form equals the schedule's counts for so many ranks."""
        return self.exact.holds(ranks, radix or RADIX)

    @property
    def orders(self) -> tuple[str, str]:
        """How the counts of α and of β grow: `("S + log P", "n + n log P/S")`."""
        return order_text(self.alpha.order), order_text(self.bytes.order)

    def growth(self, radix: int, unit: str, *, in_segments: bool) -> str:
        """How the counts of α and of β grow with the ranks: `O(log P) α + O(1) m·β` with the `unit` m of bytes.

        In segments, also how they grow with the number of segments S.
        """
        if in_segments:
            starts, moved = self.orders
            return f"O({starts}) α + O({moved}) β"
        (few_alpha, few_bytes), (many_alpha, many_bytes) = (
            self.counts(FormulaCall(ranks, 2.0**40, radix=radix))[:2] for ranks in (2**20, 2**21)
        )
        starts, moved = _doubled(few_alpha, many_alpha), _doubled(few_bytes, many_bytes)
        return f"O({starts}) α + O({moved}) {unit}·β"

    @property
    def order(self) -> str:
        """The argument of Θ(…) for T."""
        return " + ".join(order for order in self.orders if order != "1") or "1"


def _doubled(few: Number, many: Number) -> str:
    """How a count grows that is `many` at twice as many ranks."""
    ratio = float(many) / float(few) if few else 1.0
    if ratio > 3:
        return "P²"
    if ratio > 1.9:
        return "P log P" if ratio > 2.02 else "P"
    return "log P" if ratio > 1.005 else "1"


@dataclass(frozen=True)
class Collective:
    """An operation: the optimum and the closed form of each algorithm that has one, by name."""

    optimum: Optimum
    forms: Mapping[str, ClosedForm]


collective_models: Registry[Collective] = Registry(
    "model of a collective", "hockney.models.collectives.forms", "reference/collective-models.md"
)
"""Operations by name."""

_ALIASES = {
    "basic_linear": "linear",
    "binary_tree": "binary",
    "split_binary_tree": "split_binary",
    "in_order_binary": "binary",
    "modified_bruck": "bruck",
    "neighbor": "neighbor_exchange",
    "nonoverlapping": "reduce_bcast",
    "linear_nb": "linear_nonblocking",
}
"""Open MPI's names of algorithms, with those of their closed forms."""


def closed_form(operation: str, algorithm: str) -> ClosedForm | None:
    """The closed form of an algorithm; None where there is none, as for a library's own choice."""
    forms = collective_models.get(operation).forms if operation in collective_models.names() else {}
    return forms.get(algorithm) or forms.get(_ALIASES.get(algorithm, ""))
