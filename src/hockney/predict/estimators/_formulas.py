"""Textbook closed forms of collective algorithms: how often α, β and γ count, one line for each algorithm.

R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19
(2005): scatter + allgather, ring, recursive doubling and halving, bruck, rabenseifner, pairwise.
J. Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing 10 (2007):
linear, chain, pipeline, binary, split binary and binomial trees, segmented. J. L. Träff, arXiv 2407.18004:
circulant.

A closed form knows nothing of placement, protocols or overlap: every message costs α + nβ, every reduced byte γ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple


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

CHAINS = 4
KNOMIAL = 4
"""Open MPI's fan-out of `chain` and radix of `knomial` unless the table says otherwise."""


def _rounds(rounds: Callable[[Case, int], float]) -> Formula:
    """A tree or chain that passes n equal segments on: every round costs α + (m/n)β, and γ where it reduces."""

    def counts(case: Case) -> Counts:
        n = case.segments(case.m)
        number = rounds(case, n)
        return Counts(number, number * case.m / n)

    return counts


def _height(case: Case) -> int:
    """Edges from the root to the deepest leaf of a complete binary tree: ⌈log₂(P + 1)⌉ − 1."""
    return case.ranks.bit_length() - 1


def _chain(case: Case, n: int) -> float:
    chains = min(case.radix or CHAINS, case.ranks - 1)
    return chains * n + math.ceil((case.ranks - 1) / chains) - 1


def _knomial(case: Case, n: int) -> float:
    radix = case.radix or KNOMIAL
    levels, reached = 0, 1
    while reached < case.ranks:
        levels, reached = levels + 1, reached * radix
    return levels * (radix - 1) * n


_linear = _rounds(lambda case, _: case.ranks - 1)
_chains = _rounds(_chain)
_pipeline = _rounds(lambda case, n: case.ranks - 2 + n)
_binary = _rounds(lambda case, n: 2 * (_height(case) + n - 1))
_binomial = _rounds(lambda case, n: case.log * n)


def _split_binary(case: Case) -> Counts:
    half = case.m / 2
    n = case.segments(half)
    rounds = 2 * (_height(case) + n - 1)
    return Counts(rounds + 1, rounds * half / n + half)


def _reducing(formula: Formula) -> Formula:
    """The same messages towards the root, every received byte reduced."""

    def counts(case: Case) -> Counts:
        made = formula(case)
        return Counts(made.alpha, made.bytes, made.bytes)

    return counts


def _circulant_bcast(case: Case) -> Counts:
    n = case.segments(case.m)
    rounds = n - 1 + case.log
    return Counts(rounds, rounds * case.m / n)


def _rabenseifner(case: Case) -> Counts:
    power = 2**case.floor
    share = (power - 1) / power
    return Counts(2 * case.floor + 2 * case.rest, 2 * (share + case.rest) * case.m, (share + case.rest) * case.m)


def _rabenseifner_reduce(case: Case) -> Counts:
    power = 2**case.floor
    share = (power - 1) / power
    # Ranks beyond the power of two hand their vector over first; the root has nothing to give back.
    return Counts(2 * case.floor + case.rest, (2 * share + case.rest) * case.m, (share + case.rest) * case.m)


def _segmented_ring(case: Case) -> Counts:
    block = case.m / case.ranks
    n = case.segments(block)
    rounds = case.ranks + n - 2
    return Counts(rounds + case.ranks - 1, rounds * block / n + (case.ranks - 1) * block, rounds * block / n)


def _halving(case: Case) -> Counts:
    whole = case.ranks * case.m
    if not case.rest:
        return Counts(case.log, case.share * whole, case.share * whole)
    return Counts(case.floor + 2, 2 * whole, (1 + case.share) * whole)


def _exchange(case: Case) -> Counts:
    """P − 1 messages of one block."""
    return Counts(case.ranks - 1, (case.ranks - 1) * case.m)


def _doubling(case: Case) -> Counts:
    """⌈log₂P⌉ messages that grow to P − 1 blocks in all."""
    return Counts(case.log, (case.ranks - 1) * case.m)


_FORMULAS: dict[str, dict[str, Formula]] = {
    "bcast": {
        "linear": _linear,
        "chain": _chains,
        "pipeline": _pipeline,
        "binary": _binary,
        "split_binary": _split_binary,
        "binomial": _binomial,
        "knomial": _rounds(_knomial),
        "scatter_allgather": lambda case: Counts(2 * case.log, 2 * case.share * case.m),
        "scatter_allgather_ring": lambda case: Counts(case.log + case.ranks - 1, 2 * case.share * case.m),
        "circulant": _circulant_bcast,
    },
    "reduce": {
        "linear": _reducing(_linear),
        "chain": _reducing(_chains),
        "pipeline": _reducing(_pipeline),
        "binary": _reducing(_binary),
        "binomial": _reducing(_binomial),
        "rabenseifner": _rabenseifner_reduce,
    },
    "allreduce": {
        "linear": lambda case: Counts(
            2 * (case.ranks - 1), 2 * (case.ranks - 1) * case.m, (case.ranks - 1) * case.m
        ),
        "reduce_bcast": lambda case: Counts(2 * case.log, 2 * case.log * case.m, case.log * case.m),
        "recursive_doubling": lambda case: Counts(
            case.floor + 2 * case.rest, (case.floor + 2 * case.rest) * case.m, (case.floor + case.rest) * case.m
        ),
        "ring": lambda case: Counts(2 * (case.ranks - 1), 2 * case.share * case.m, case.share * case.m),
        "segmented_ring": _segmented_ring,
        "rabenseifner": _rabenseifner,
        "circulant": lambda case: Counts(2 * case.log, 2 * case.share * case.m, case.share * case.m),
    },
    "allgather": {
        "linear": _exchange,
        "ring": _exchange,
        "neighbor_exchange": lambda case: Counts(case.ranks / 2, (case.ranks - 1) * case.m),
        "bruck": _doubling,
        "recursive_doubling": _doubling,
        "circulant": _doubling,
    },
    "gather": {
        "linear": _exchange,
        # Every block is asked for with an empty message.
        "linear_sync": lambda case: Counts(2 * (case.ranks - 1), (case.ranks - 1) * case.m),
        "binomial": _doubling,
    },
    "scatter": {"linear": _exchange, "linear_nonblocking": _exchange, "binomial": _doubling},
    "alltoall": {
        "linear": _exchange,
        "linear_sync": _exchange,
        "pairwise": _exchange,
        "bruck": lambda case: Counts(case.log, case.log * case.ranks / 2 * case.m),
    },
    "reduce_scatter": {
        "ring": _reducing(_exchange),
        "pairwise": _reducing(_exchange),
        "recursive_halving": _halving,
        "circulant": _reducing(_doubling),
    },
    "barrier": {
        "linear": lambda case: Counts(2 * (case.ranks - 1), 0.0),
        "dissemination": lambda case: Counts(case.log, 0.0),
        "recursive_doubling": lambda case: Counts(case.floor + 2 * case.rest, 0.0),
        "tree": lambda case: Counts(2 * case.log, 0.0),
        "double_ring": lambda case: Counts(2 * case.ranks, 0.0),
    },
}

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
"""As Open MPI spells them."""


def formula(operation: str, algorithm: str) -> Formula | None:
    """The closed form of an algorithm; None where the textbook has none, as for a library's own choice."""
    known = _FORMULAS.get(operation, {})
    return known.get(algorithm) or known.get(_ALIASES.get(algorithm, ""))
