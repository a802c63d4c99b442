"""How benchmarks measure: the operations around the timed call, and from where each rank counts its time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hockney import _core
from hockney._core import Problem
from hockney.errors import RequestError
from hockney.predict.decisions.base import InnerCollective
from hockney.registry import Registry

Phase = tuple[str, str, Problem]
"""Collective, algorithm and problem."""


@lru_cache(maxsize=1)
def schedules() -> frozenset[tuple[str, str]]:
    """Collective and name of each."""
    return frozenset((algorithm.collective, algorithm.name) for algorithm in _core.algorithms())


@lru_cache(maxsize=65536)
def phase(
    inner: InnerCollective, ranks: int, element_B: int, root: int = 0, *, is_commutative: bool = True
) -> Phase:
    """The schedule of a collective and what it does; RequestError where there is none, or it refuses that."""
    operation, choice = inner.operation, inner.choice
    if (operation, choice.algorithm) not in schedules():
        raise RequestError(f"there is no schedule {operation} {choice.algorithm}", "")
    problem = Problem(
        ranks=ranks,
        bytes=inner.size_B,
        root=root,
        element_B=element_B,
        segment_B=max(inner.segment_B, element_B) if inner.segment_B else 0,
        radix=choice.radix or 0,
        commutative=is_commutative,
    )
    if reason := _core.refusal(operation, choice.algorithm, problem):
        raise RequestError(reason, "")
    return operation, choice.algorithm, problem


@dataclass(frozen=True)
class ProcedureRun:
    """Phases that are simulated one after another; each rank proceeds on its own.

    A rank's time is the end of phase `end` minus the end of phase `start`, or minus 0 where `start` is None:
    then all ranks begin together.
    """

    phases: list[Phase]
    start: int | None
    end: int


@dataclass(frozen=True)
class Procedure:
    """`has_barrier`: each call follows a barrier whose exit starts a rank's clock.

    `previous_call`: the ranks enter that barrier as they left the call before. `element_B`: of the vectors that
    are reduced.
    """

    has_barrier: bool
    previous_call: bool
    element_B: int

    def run(self, call: list[Phase], barrier: list[Phase]) -> ProcedureRun:
        """`barrier` empty: what the library does is not known, the ranks are taken to leave it together."""
        if not self.has_barrier or not barrier:
            return ProcedureRun(call, None, len(call) - 1)
        before = [*call, *barrier] if self.previous_call else list(barrier)
        return ProcedureRun([*before, *call], len(before) - 1, len(before) + len(call) - 1)


procedures: Registry[Procedure] = Registry("procedure", "hockney.predict.procedures", "reference/calibration.md")


@dataclass(frozen=True)
class _Repeated(Procedure):
    """Calls one after another without a barrier, so that what counts is how often they come.

    In the second of two calls a rank's time is the distance between its exits, which is that.
    """

    def run(self, call: list[Phase], barrier: list[Phase]) -> ProcedureRun:  # noqa: ARG002
        return ProcedureRun(call * 3, 2 * len(call) - 1, 3 * len(call) - 1)


# All ranks begin together in a window of the global clock; first entry to last exit; 4-byte numbers.
procedures.register("hockney")(Procedure(has_barrier=False, previous_call=False, element_B=4))

# Intel MPI Benchmarks: each rank divides its time for all calls by their number.
procedures.register("imb")(_Repeated(has_barrier=False, previous_call=True, element_B=4))

# OSU Micro-Benchmarks (source of 7.3): a barrier between calls, each rank's own MPI_Wtime around the call.
# `osu_bcast` has its barrier after each call, `osu_reduce` before: either way a call, a barrier, the next call.
# Reductions are of MPI_CHAR from 7.0 on.
procedures.register("osu")(Procedure(has_barrier=True, previous_call=True, element_B=1))

# PICO: a barrier before each call, MPI_Wtime around it on each rank, the slowest rank of each iteration; vectors
# of 4-byte integers.
procedures.register("pico")(Procedure(has_barrier=True, previous_call=True, element_B=4))
