"""Jacobi and CG as what is simulated: exchanges of halos, computation, sums over all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hockney._core import Problem, Schedule
from hockney.apps.stencil.options import SUMS, Variant
from hockney.apps.stencil.stencil import Script, Stencil, exchange
from hockney.apps.stencil.surroundings import Phase, Surroundings

SUM_B = 8
"""Of one inner product."""


class Traffic(NamedTuple):
    """Bytes that an unknown moves in an iteration of CG (docs/reference/cg.md).

    Of those what passes before the first sum, and what `overlap` may do while halos travel: the operator (that of
    `single_sweep` waits for them). `around_B`: what a whole solution moves beside its iterations, the first
    residual, less what the last iteration leaves out.
    """

    iteration_B: int
    before_sum_B: int
    overlapped_B: int
    around_B: int

    @property
    def around(self) -> float:
        """What a solution does beside its iterations, in iterations."""
        return self.around_B / self.iteration_B

    @property
    def before_sum(self) -> float:
        """The share of an iteration before its first sum."""
        return self.before_sum_B / self.iteration_B


TRAFFIC: dict[Variant, Traffic] = {
    "reference": Traffic(120, 40, 24, 24),
    "fused": Traffic(96, 24, 24, 24),
    "joint": Traffic(88, 24, 24, 32),
    "single_sweep": Traffic(80, 56, 0, 48),
    "pipelined": Traffic(128, 24, 24, 72),
}
SWEEP = Traffic(1, 1, 1, 0)
FOLLOWING = 3
"""Iterations that are simulated after the first: what the ranks wait for each other has settled by then."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StencilStep:
    """A stencil program. `cell_s` is what a rank computes for one of its cells in an iteration, in seconds.

    `variant` of CG; None: Jacobi.
    """

    stencil: Stencil
    cell_s: float
    variant: Variant | None = None

    @property
    def traffic(self) -> Traffic:
        """Of Jacobi, whose iteration is one sweep, all of it passes with the exchange."""
        return TRAFFIC[self.variant] if self.variant else SWEEP

    @property
    def compute_s(self) -> float:
        """Of the rank with the most cells, an iteration."""
        return float(self.stencil.boxes().prod(axis=1).max()) * self.cell_s


@dataclass(frozen=True)
class Iteration:
    """Seconds of the first iteration after a common start, of each further one, and of computation in either.

    `first_s` holds what CG does once besides, of which `around_s` is computation.
    """

    first_s: float
    further_s: float
    compute_s: float
    around_s: float = 0.0

    def mean_compute_s(self, iterations: int) -> float:
        """Of so many in a row."""
        return self.compute_s + self.around_s / iterations

    def mean_s(self, iterations: int) -> float:
        """Of so many in a row."""
        return (self.first_s + (iterations - 1) * self.further_s) / iterations


def iteration(step: StencilStep, surroundings: Surroundings) -> Iteration:
    """Simulated with these costs."""
    compute_s = step.compute_s * surroundings.tuned.compute
    around_s = compute_s * step.traffic.around
    if step.stencil.ranks == 1:
        return Iteration(compute_s + around_s, compute_s, compute_s, around_s)
    build = _jacobi if step.variant is None else _pipelined if step.variant == "pipelined" else _cg
    first_s, all_s = (build(step, surroundings, count) for count in (1, 1 + FOLLOWING))
    once_s = 0.0 if step.variant is None else _around(step, surroundings)
    return Iteration(first_s + once_s, (all_s - first_s) / FOLLOWING, compute_s, around_s)


def _computed(step: StencilStep, surroundings: Surroundings, share: float = 1.0) -> list[Array]:
    """Seconds of each rank for the cells that need no neighbour, and for the others."""
    inner = step.stencil.inner().astype(float)
    every = step.stencil.boxes().prod(axis=1).astype(float)
    cell_s = step.cell_s * surroundings.tuned.compute * share
    return [inner * cell_s, (every - inner) * cell_s]


def _before_sum(step: StencilStep, surroundings: Surroundings) -> list[Array]:
    """Of the computation before the first sum, what may overlap with the exchange and what follows it."""
    moved = step.traffic
    inner = _computed(step, surroundings, moved.overlapped_B / moved.iteration_B)[0]
    return [inner, np.add(*_computed(step, surroundings, moved.before_sum)) - inner]


def _exchanged(step: StencilStep, computed: Sequence[Array], iterations: int = 1) -> Schedule:
    script = Script(step.stencil.ranks)
    for _ in range(iterations):
        exchange(script, step.stencil, computed)
    return script.schedule()


def _jacobi(step: StencilStep, surroundings: Surroundings, iterations: int) -> float:
    schedule = _exchanged(step, _before_sum(step, surroundings), iterations)
    return surroundings.finish_s([schedule], step.stencil.ranks)[-1]


def _cg(step: StencilStep, surroundings: Surroundings, iterations: int) -> float:
    """Exchange, operator, sum, updates, sum: in whichever sweeps they are done."""
    ranks = step.stencil.ranks
    before = _exchanged(step, _before_sum(step, surroundings))
    after = Script(ranks)
    after.work(np.add(*_computed(step, surroundings, 1 - step.traffic.before_sum)))
    total = _sum(step, ranks)
    return surroundings.finish_s([before, total, after.schedule(), total] * iterations, ranks)[-1]


def _pipelined(step: StencilStep, surroundings: Surroundings, iterations: int) -> float:
    """The sum travels while halos are exchanged and the operator is applied (Ghysels and Vanroose 2014)."""
    ranks = step.stencil.ranks
    before = _exchanged(step, _before_sum(step, surroundings))
    after = (1 - step.traffic.before_sum) * step.compute_s * surroundings.tuned.compute
    beside_s = max(surroundings.finish_s([phase], ranks)[-1] for phase in (before, _sum(step, ranks)))
    return iterations * (beside_s + after)


def _around(step: StencilStep, surroundings: Surroundings) -> float:
    """The first residual with its exchange and sum, and what the last iteration leaves out."""
    schedule = _exchanged(step, _computed(step, surroundings, step.traffic.around))
    return surroundings.finish_s([schedule, _sum(step, step.stencil.ranks)], step.stencil.ranks)[-1]


def _sum(step: StencilStep, ranks: int) -> Phase:
    size_B = 2 * SUM_B if step.variant == "pipelined" else SUM_B
    return ("allreduce", SUMS, Problem(ranks=ranks, bytes=size_B, element_B=8))
