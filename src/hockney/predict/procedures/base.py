"""What a procedure is: the operations around the timed call, and from where each rank counts its time."""

from __future__ import annotations

from dataclasses import dataclass

from hockney._core import Problem
from hockney.registry import Registry

Phase = tuple[str, str, Problem]
"""Collective, algorithm and what is asked of it."""


@dataclass(frozen=True)
class Run:
    """Phases that are simulated one after another, each rank going on by itself.

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

    def run(self, call: list[Phase], barrier: list[Phase]) -> Run:
        """`barrier` empty: what the library does is not known, the ranks are taken to leave it together."""
        if not self.has_barrier or not barrier:
            return Run(call, None, len(call) - 1)
        before = [*call, *barrier] if self.previous_call else list(barrier)
        return Run([*before, *call], len(before) - 1, len(before) + len(call) - 1)


procedures: Registry[Procedure] = Registry("procedure", "hockney.predict.procedures")
