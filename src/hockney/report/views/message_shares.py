"""The sizes of an algorithm's messages, round by round, and their time if α and β depend on size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney import _core
from hockney._core import Problem
from hockney.machine.formula import regime_of
from hockney.models.base import Fit
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.records.keys import COLLECTIVES, ELEMENT_B
from hockney.units import format_bytes

MOST_STEPS = 2**18
"""Most steps of all ranks together: a second to generate."""


@dataclass(frozen=True)
class Shares:
    """Messages on the critical path as multiples of n, one for each round, and reduced bytes as a multiple of n.

    If the largest message of some round does not wait for that of the round before, the sum over rounds is an
    upper bound and `is_exact` is False.
    """

    of_n: NDArray[np.float64]
    reduced: float
    is_exact: bool


@dataclass(frozen=True)
class Piece:
    """T(n) = alpha_s + beta_s_per_B · n for `domain`."""

    alpha_s: float
    beta_s_per_B: float
    domain: str


def shares_of(operation: str, algorithm: str, ranks: int) -> Shares | str:
    """The shares by the schedule without segments; the reason as text if there is none."""
    if (operation, algorithm) not in {(known.collective, known.name) for known in _core.algorithms()}:
        return "it has no schedule"
    elements = math.lcm(2 ** (ranks.bit_length() - 1), ranks) if COLLECTIVES[operation].has_size else 0
    size_B = ELEMENT_B * elements
    problem = Problem(ranks=ranks, bytes=size_B, element_B=ELEMENT_B)
    if reason := _core.refusal(operation, algorithm, problem):
        return f"not defined: {reason}"
    if _core.count_steps(operation, algorithm, problem, MOST_STEPS) > MOST_STEPS:
        return "too many messages to go through one by one"
    schedule = _core.generate(operation, algorithm, problem)
    counts = _core.count(schedule)
    largest = np.zeros(counts.rounds)
    for move in _core.moves(schedule):
        largest[move.round] = max(largest[move.round], move.length_B)
    form = closed_form(operation, algorithm)
    reduced = float(form.counts(FormulaCall(ranks, 1.0)).reduced) if form is not None else 0.0
    return Shares(largest / max(size_B, 1), reduced, counts.critical_bytes == counts.round_bytes)


def by_size(shares: Shares, fit: Fit) -> list[Piece]:
    """T(n) in linear pieces, with a break wherever a message of some round reaches a break of the fit."""
    moving = shares.of_n[shares.of_n > 0]
    breaks = sorted(
        {
            regime.max_B / share
            for regime in fit.regimes
            if regime.max_B is not None
            for share in np.unique(moving)
        }
    )
    pieces = []
    for below, above in zip([None, *breaks], [*breaks, None], strict=True):
        # A break belongs to the piece below it, and sizes are whole bytes: a piece may hold none.
        if below is not None and above is not None and _whole(below) == _whole(above):
            continue
        inside = 0.0 if below is None else below + 1 if above is None else (below + above) / 2
        # Of anything, a message carries a byte at least.
        least_B = 0.0 if below is None else 1.0
        of_n = [share and max(share * inside, least_B) for share in shares.of_n]
        regimes = [fit.regimes[regime_of(fit, size_B)] for size_B in of_n]
        alpha = math.fsum(regime.alpha_s.value for regime in regimes)
        beta = math.fsum(
            regime.beta_s_per_B.value * share for regime, share in zip(regimes, shares.of_n, strict=True)
        )
        pieces.append(Piece(alpha, beta, _domain(below, above)))
    return pieces


def _whole(size_B: float) -> int:
    # 4096 / (1/3) is a little less than 12288.
    return math.floor(size_B + 1e-6)


def _domain(below: float | None, above: float | None) -> str:
    low = "0" if below is None or _whole(below) == 0 else format_bytes(_whole(below))
    if above is None:
        return "" if below is None else f"n > {low}"
    if below is None:
        return f"n ≤ {format_bytes(_whole(above))}" if _whole(above) else "n = 0"
    return f"{low} < n ≤ {format_bytes(_whole(above))}"
