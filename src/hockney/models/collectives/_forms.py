"""What a closed form of a collective algorithm is: how often α, β and γ count, as numbers and as a formula.

T = alpha · α + bytes · β + reduced · γ: every message costs α + nβ, every reduced byte γ. A closed form knows
nothing of placement, protocols or overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

CHAINS = 4
KNOMIAL = 4
"""Open MPI's fan-out of `chain` and radix of `knomial` unless the table says otherwise."""


class Counts(NamedTuple):
    """T = alpha · α + bytes · β + reduced · γ."""

    alpha: float
    bytes: float
    reduced: float = 0.0


class Case(NamedTuple):
    """One call: `m` is the size in bytes (vector or block), `segment` 0: none, `radix` 0: the usual one."""

    ranks: int
    m: float
    segment: float = 0.0
    radix: int = 0

    @property
    def log(self) -> int:
        """⌈log₂P⌉."""
        return (self.ranks - 1).bit_length()

    @property
    def floor(self) -> int:
        """⌊log₂P⌋."""
        return self.ranks.bit_length() - 1

    @property
    def rest(self) -> int:
        """1 where P is no power of two."""
        return int(self.log != self.floor)

    @property
    def share(self) -> float:
        """(P − 1)/P."""
        return (self.ranks - 1) / self.ranks

    def segments(self, m: float) -> int:
        """How many segments `m` bytes have."""
        return max(1, math.ceil(m / self.segment)) if self.segment else 1


Formula = Callable[[Case], Counts]

Exact = Literal["every P", "P = 2^q", "P = 2^h − 1", "P = k^d", "k | P − 1", "even P"]
"""For which numbers of ranks a closed form equals the counts of the schedule."""


@dataclass(frozen=True)
class ClosedForm:
    """A closed form. `alpha`, `bytes` and `reduced` are formulas in P (ranks) and n (bytes: vector or block) with

    q = ⌈log₂P⌉, d = ⌊log₂P⌋, r = 0 for P = 2^q and 1 else, N = 2^d, S segments, k the radix; `·` multiplies.
    `orders`: how alpha and bytes grow. Where the form is not `exact`, it is no less than the schedule's counts if
    `bounds`, and else near them.
    """

    counts: Formula
    alpha: str
    bytes: str
    orders: tuple[str, str]
    reduced: str = ""
    exact: Exact = "every P"
    bounds: bool = True
    source: str = ""
    serves_all: bool = False
    """One rank sends to, or receives from, each other one, several messages under way at once.

    Its messages overlap: what processors and latency take of one hides behind the next, and the form is at most.
    """

    def is_exact(self, ranks: int, radix: int = 0) -> bool:
        """Whether the form equals the schedule's counts for so many ranks."""
        match self.exact:
            case "P = 2^q":
                return ranks & (ranks - 1) == 0
            case "P = 2^h − 1":
                return ranks & (ranks + 1) == 0
            case "P = k^d":
                power = radix or KNOMIAL
                while power < ranks:
                    power *= radix or KNOMIAL
                return power == ranks
            case "k | P − 1":
                return (ranks - 1) % min(radix or CHAINS, ranks - 1) == 0
            case "even P":
                return ranks % 2 == 0
            case _:
                return True


def rounds(number: Callable[[Case, int], float]) -> Formula:
    """A tree or chain that passes S equal segments on: every round costs α + (n/S)β."""

    def counts(case: Case) -> Counts:
        segments = case.segments(case.m)
        times = number(case, segments)
        return Counts(times, times * case.m / segments)

    return counts


def reducing(formula: Formula) -> Formula:
    """The same messages towards the root, every received byte reduced."""

    def counts(case: Case) -> Counts:
        made = formula(case)
        return Counts(made.alpha, made.bytes, made.bytes)

    return counts


def segmented(times: str) -> tuple[str, str]:
    """The formulas of `rounds`: so many times α, and as many segments of n/S bytes."""
    return times, f"{times}·n/S"


def height(case: Case) -> int:
    """Edges from the root to the deepest leaf of a complete binary tree: ⌈log₂(P + 1)⌉ − 1 = ⌊log₂P⌋."""
    return case.floor


def knomial_levels(case: Case, segments: int) -> float:
    """⌈log_k P⌉ levels, on each of which a rank serves k − 1 children."""
    radix = case.radix or KNOMIAL
    levels, reached = 0, 1
    while reached < case.ranks:
        levels, reached = levels + 1, reached * radix
    return levels * (radix - 1) * segments


def chains(case: Case, segments: int) -> float:
    """k chains of at most ⌈(P − 1)/k⌉ ranks; the root serves all of them in turn."""
    number = min(case.radix or CHAINS, case.ranks - 1)
    return number * segments + math.ceil((case.ranks - 1) / number) - 1


def exchange(case: Case) -> Counts:
    """P − 1 messages of one block."""
    return Counts(case.ranks - 1, (case.ranks - 1) * case.m)


def doubling(case: Case) -> Counts:
    """⌈log₂P⌉ messages that grow to P − 1 blocks in all."""
    return Counts(case.log, (case.ranks - 1) * case.m)


THAKUR = "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)"
PJESIVAC = "Pješivac-Grbović et al., Cluster Computing 10 (2007)"
TRAEFF = "Träff, arXiv 2407.18004"
CHAN = "Chan, Heimlich, Purkayastha and van de Geijn, Concurrency and Computation 19 (2007)"
BRUCK = "Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE TPDS 8 (1997)"
