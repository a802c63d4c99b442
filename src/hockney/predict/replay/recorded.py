"""The trace of a run: where it lies, what is wrong with it, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from hockney import _core, reading
from hockney._core import Recording, TraceFault
from hockney.errors import RequestError
from hockney.predict.options import MOST_FACTOR
from hockney.runner.profiled import source_lines
from hockney.units import counted, format_time

OPERATIONS = tuple(one.name for one in _core.collectives())
"""Those of a trace that libraries have algorithms for, by their numbers."""
FEW = 3
"""Ranks, functions or call sites that a warning names."""


class CollectiveCall(NamedTuple):
    """Calls of a collective that a library decides on alike; bytes as in the tidy table."""

    operation: str
    ranks: int
    bytes: int
    element_B: int
    is_commutative: bool
    calls: int


@dataclass(frozen=True)
class RecordedRun:
    """A trace that was read; times in seconds."""

    path: Path
    trace: Recording

    @property
    def ranks(self) -> int:
        """Ranks of MPI_COMM_WORLD."""
        return self.trace.ranks

    @cached_property
    def events(self) -> int:
        """Calls of all ranks."""
        return sum(events for events, *_ in self.trace.per_rank)

    @cached_property
    def measured_s(self) -> float:
        """From MPI_Init to MPI_Finalize, on the rank where that was longest."""
        return max(wall_s for _, wall_s, *_ in self.trace.per_rank)

    @cached_property
    def calls(self) -> list[CollectiveCall]:
        """In the order that the core numbers them."""
        return [CollectiveCall(OPERATIONS[call[0]], *call[1:]) for call in self.trace.calls]

    @cached_property
    def sites(self) -> list[str]:
        """`file.c:12 (function)` where the programs are here and say so, else addresses."""
        lines = source_lines(self.trace.sites)
        return [lines.get(site, site) for site in self.trace.sites]

    def factors(self, scale: float, of_sites: Mapping[str, float]) -> list[float]:
        """By which computing before each call site is multiplied; RequestError where a name is no part of any."""
        for name in of_sites:
            if not any(name in site for site in self.sites):
                few = "; ".join(self.sites[:FEW])
                raise RequestError(f"no call site of {self.path} has {name!r}", f"call sites are: {few}")
        factors = [
            scale * next((factor for name, factor in of_sites.items() if name in site), 1.0)
            for site in self.sites
        ]
        if (most := max(factors, default=0)) > MOST_FACTOR:
            raise RequestError(
                f"computing would take {most:g} times as long", f"the factors' product is {MOST_FACTOR:g} at most"
            )
        return factors

    def remarks(self) -> list[str]:
        """What the trace lacks, in words."""
        said = []
        cut = [(rank, why) for rank, (*_, why) in enumerate(self.trace.per_rank) if why]
        if cut:
            words = "; ".join(f"rank {rank}: {why}" for rank, why in cut[:FEW])
            said.append(f"the trace has no MPI_Finalize of {counted(len(cut), 'rank')} ({words})")
        if self.trace.others:
            names = ", ".join(name for name, *_ in self.trace.others[:FEW])
            time_s = sum(time_s for *_, time_s in self.trace.others) / self.ranks
            said.append(f"not played as messages, {format_time(time_s)} a rank as recorded: {names}")
        if self.trace.between_groups:
            said.append(f"{counted(self.trace.between_groups, 'collective call')} between groups are left out")
        if self.trace.has_cpu:
            said.append("computing is by the processor's clock, with the recording's caches and memory bandwidth")
        return said


def read(path: Path) -> RecordedRun:
    """RequestError, with rank and event, where the trace is damaged."""
    try:
        return RecordedRun(path, Recording(reading.printable(path)))
    except TraceFault as fault:
        raise refused(fault) from fault


def refused(fault: TraceFault) -> RequestError:
    """The same for the user."""
    what, _, hint = str(fault).partition("\n")
    return RequestError(what, hint)
