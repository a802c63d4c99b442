"""The window of candidates: the algorithms that libraries known here have for a collective, as schedules."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from hockney.predict.decisions.base import ScheduleChoice, decisions_for, libraries
from hockney.schedule.catalogue import algorithms, find, least_B
from hockney.units import format_bytes

_NO_ALGORITHM = re.compile(r"libnbc:.*|mpir:nb|.*:default")
"""Of calls that do not block, which no default is, and of what a component chooses, which is no algorithm."""


@dataclass(frozen=True)
class DefaultCandidate:
    """A schedule, or an algorithm that only its `library` name stands for: it is known by measured times
    alone."""

    choice: ScheduleChoice | None
    library: str = ""

    @property
    def name(self) -> str:
        """`knomial, radix 4`, or the library's name of what has no schedule."""
        if self.choice is None:
            return self.library
        parts = [self.choice.algorithm]
        if self.choice.radix:
            parts.append(f"radix {self.choice.radix}")
        if self.choice.segment_B:
            parts.append(f"segments of {format_bytes(self.choice.segment_B)}")
        return ", ".join(parts)


def of_schedule(operation: str, choice: ScheduleChoice) -> DefaultCandidate:
    """The candidate of a choice, its radix written out; RequestError where there is no such schedule."""
    radix = choice.radix or find(operation, choice.algorithm).default_radix
    return DefaultCandidate(replace(choice, radix=radix or None, parts=()))


def of_name(
    operation: str, name: str, mpi: str, *, ranks: int, size_B: int, segment_B: int, radix: int
) -> DefaultCandidate | None:
    """The candidate behind a name in a table, where it was measured on so many ranks and bytes.

    A name that the library is not known to have is that of our schedule, as for the simulation, or stands alone.
    None where no default can be it.
    """
    if _NO_ALGORITHM.fullmatch(name):
        return None
    known = decisions_for(mpi)
    if known.decisions is None:
        own = any(one.name == name for one in algorithms(operation))
        if own and size_B < least_B(operation, name, ranks):
            return None
        choice = ScheduleChoice(name, segment_B or None) if own else None
    else:
        choice = known.decisions.named(
            operation, name, known.version, ranks=ranks, size_B=size_B, segment_B=segment_B
        )
    if choice is None:
        return DefaultCandidate(None, name)
    return of_schedule(operation, replace(choice, radix=radix) if radix else choice)


@lru_cache(maxsize=64)
def window(operation: str, mpi: str) -> tuple[DefaultCandidate, ...]:
    """Candidates for the default of the library in a table's `mpi` column.

    They are the named algorithms of that library; those of all libraries where its names are not known here.
    """
    known = decisions_for(mpi)
    of = [known.decisions] if known.decisions else [decisions for _, decisions in libraries]
    found: dict[DefaultCandidate, None] = {}
    for decisions in of:
        for name in decisions.names.get(operation, ()):
            choice = decisions.named(operation, name, known.version)
            if choice is not None:
                found[of_schedule(operation, choice)] = None
    return tuple(found)
