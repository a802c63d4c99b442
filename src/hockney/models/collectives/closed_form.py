"""What a closed form of an algorithm is: T as one expression in α, β and γ, and for which P it is exact.

Every message costs α + nβ, every reduced byte γ. A closed form knows nothing of placement, protocols or overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from hockney.models.collectives.expression import (
    ZERO,
    Call,
    Expression,
    Number,
    grows,
    order_text,
    symbol,
)

RADIX = 4
"""Open MPI's fan-out of `chain` and radix of `knomial` unless the table says otherwise."""


def _radix(case: Call) -> Number:
    return np.where(case.radix > 0, case.radix, RADIX)


def _levels(case: Call) -> Number:
    radix = _radix(case)
    # log 64/log 4 is 3 and a little more: rounded to the nearest level, and one more where that is too few.
    levels = np.rint(np.log(case.ranks) / np.log(radix))
    return levels + (radix**levels < case.ranks)


def _log(case: Call) -> Number:
    """⌈log₂P⌉: the binary digits of P − 1."""
    return np.frexp(case.ranks - 1)[1] + 0.0


def _floor(case: Call) -> Number:
    """⌊log₂P⌋: the binary digits of P but one."""
    return np.frexp(case.ranks)[1] - 1.0


def segments_of(part: Expression) -> Expression:
    """S, the number of segments of a part of the message; 1 where it is not cut."""

    def segments(case: Call) -> Number:
        return np.maximum(1.0, np.ceil(part.value(case) / np.where(case.segment > 0, case.segment, np.inf)))

    return Expression("S", segments, grows(S=1))


P = Expression("P", lambda case: case.ranks, grows(P=1))
n = Expression("n", lambda case: case.m, grows(n=1))
q = Expression("q", _log, grows(log=1), "⌈log₂P⌉")
d = Expression("d", _floor, grows(log=1), "⌊log₂P⌋")
"""Also the edges from the root to the deepest leaf of a complete binary tree: ⌈log₂(P + 1)⌉ − 1."""
r = Expression("r", lambda case: _log(case) - _floor(case))
N = Expression("N", lambda case: 2.0 ** _floor(case), grows(P=1))
S = segments_of(n)
k = Expression("k", _radix)
chains = Expression("k", lambda case: np.minimum(_radix(case), case.ranks - 1))
"""No more chains than ranks that hang on them."""
levels = Expression("⌈log P/log k⌉", _levels, grows(log=1))
alpha, beta, gamma = symbol("α"), symbol("β"), symbol("γ")


class Condition(NamedTuple):
    """For which numbers of ranks a form equals the schedule's counts: as a docs table and as a view say it."""

    column: str
    where: str
    holds: Callable[[int, int], bool]
    """Of ranks and radix."""


EVERY_P = Condition("every P", "", lambda _ranks, _radix: True)
EVEN_P = Condition("even P", "P even", lambda ranks, _: ranks % 2 == 0)
POWER_OF_TWO = Condition("P = 2^q", "P a power of two", lambda ranks, _: ranks & (ranks - 1) == 0)
FULL_TREE = Condition("P = 2^h − 1", "P = 2^h − 1", lambda ranks, _: ranks & (ranks + 1) == 0)
POWER_OF_RADIX = Condition(
    "P = k^d", "P = k^d", lambda ranks, radix: radix ** round(math.log(ranks, radix)) == ranks
)
EQUAL_CHAINS = Condition(
    "k divides P − 1", "k | P − 1", lambda ranks, radix: (ranks - 1) % min(radix, ranks - 1) == 0
)


class Counts(NamedTuple):
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

    @property
    def has_bytes(self) -> bool:
        """False for a barrier."""
        return self.bytes is not ZERO

    def counts(self, case: Call) -> Counts:
        """How often each counts, in one case or in arrays of cases."""
        return Counts(self.alpha.value(case), self.bytes.value(case), self.reduced.value(case))


@dataclass(frozen=True)
class Optimum(CostFormula):
    """What no algorithm beats: T is no less than any of the terms of `time`, each by itself.

    Chan et al. (2007), table 1; of alltoall Bruck et al. (1997).
    """

    source: str


@dataclass(frozen=True)
class ClosedForm(CostFormula):
    """T of an algorithm. Where it is not `exact`, it is at most or near what the schedule counts.

    `otherwise` is empty for an algorithm that other numbers of ranks cannot run.
    """

    source: str
    exact: Condition = EVERY_P
    otherwise: Literal["at most", "near it", ""] = "at most"
    serves_all: bool = False
    """One rank sends to, or receives from, each other one, several messages under way at once.

    Its messages overlap: what processors and latency take of one hides behind the next, and the form is at most.
    """

    def is_exact(self, ranks: int, radix: int = 0) -> bool:
        """Whether the form equals the schedule's counts for so many ranks."""
        return self.exact.holds(ranks, radix or RADIX)

    @property
    def orders(self) -> tuple[str, str]:
        """How the counts of α and of β grow: `("S + log P", "n + n log P/S")`."""
        return order_text(self.alpha.order), order_text(self.bytes.order)

    @property
    def order(self) -> str:
        """What stands in Θ(…) of T."""
        return " + ".join(order for order in self.orders if order != "1") or "1"
