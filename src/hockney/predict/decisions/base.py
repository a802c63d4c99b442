"""What a library's decisions are: the schedule it runs by default, and the one behind each of its names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hockney.registry import Registry
from hockney.units import version_in

Version = tuple[int, ...]
"""(4, 1, 5) for 4.1.5; empty where a table does not name it."""


@dataclass(frozen=True)
class ScheduleChoice:
    """A schedule as a library would run it; `segment_B` None: not segmented; `radix` None: it has none.

    `parts` are the collectives, one after another, that an algorithm calls where they are not those of the
    schedule: then the schedule by itself is only like what runs, and the parts are what runs.
    """

    algorithm: str
    segment_B: int | None = None
    radix: int | None = None
    parts: tuple[InnerCollective, ...] = ()

    def phases(self, operation: str, size_B: int) -> tuple[InnerCollective, ...]:
        """What runs, one after another, where an operation of this size is done so."""
        return self.parts or (InnerCollective(operation, size_B, self),)


@dataclass(frozen=True)
class InnerCollective:
    """A collective inside another one, with root 0; `size_B` as in the table for its operation."""

    operation: str
    size_B: int
    choice: ScheduleChoice

    @property
    def segment_B(self) -> int:
        """The choice's segment, 0 where the whole message is as short."""
        segment_B = self.choice.segment_B or 0
        return segment_B if segment_B < self.size_B else 0


@dataclass(frozen=True)
class LibraryCall:
    """A call of a collective by a library: `ranks` 0, `size_B` −1, not said; `segment_B` 0, the library's own.

    `size_B` is the table's: the whole vector for bcast, reduce and allreduce, one rank's block for the others, 0
    for barrier. Reductions have a commutative operator and elements of `element_B` bytes, other operations
    bytes. `nodes` is how many nodes the ranks are on; None: several, and nobody says how many.
    """

    operation: str
    ranks: int
    size_B: int
    version: Version
    nodes: int | None = 1
    segment_B: int = 0
    element_B: int = 4

    @property
    def count(self) -> int:
        """Elements, the last of them maybe in part."""
        return -(-self.size_B // self.element_B)


@dataclass(frozen=True)
class Decisions:
    """One library. `banner` matches its name at the start of a table's `mpi` column, in lower case.

    `choose`: its own choice for a call; `run`: what runs under the name of one of its algorithms. Both None where
    that is not known or has no schedule here. `limits` says in words where `choose` has no answer; it is shown to
    the user. `names` are those of its algorithms, by operation. `component`: what serves an operation in their
    place on so many ranks and nodes; "" where they do.
    """

    banner: re.Pattern[str]
    choose: Callable[[LibraryCall], ScheduleChoice | None]
    run: Callable[[str, LibraryCall], ScheduleChoice | None]
    names: Mapping[str, Collection[str]]
    limits: str
    component: Callable[[str, Version, int, int | None], str] = lambda *_: ""

    def default(
        self,
        operation: str,
        ranks: int,
        size_B: int,
        version: Version,
        *,
        nodes: int | None = 1,
        element_B: int = 4,
    ) -> ScheduleChoice | None:
        """The library's own choice."""
        return self.choose(LibraryCall(operation, ranks, size_B, version, nodes, element_B=element_B))

    def named(
        self,
        operation: str,
        algorithm: str,
        version: Version,
        *,
        ranks: int = 0,
        size_B: int = -1,
        segment_B: int = 0,
        element_B: int = 4,
    ) -> ScheduleChoice | None:
        """What runs under one of the library's own names, with `_`, `-` or spaces.

        Where `ranks` and `size_B` are said, the answer is what really runs: libraries replace an algorithm
        outside of its conditions without a word.
        """
        call = LibraryCall(operation, ranks, size_B, version, segment_B=segment_B, element_B=element_B)
        return self.run(re.sub(r"[\s_-]+", "_", algorithm.strip().lower()), call)


libraries: Registry[Decisions] = Registry(
    "MPI library", "hockney.predict.decisions", "reference/library-decisions.md"
)


class LibraryDecisions(NamedTuple):
    """The decisions that hold for a table; `reason` is why there are none, or what they leave open."""

    decisions: Decisions | None
    version: Version
    reason: str

    def default(
        self, operation: str, ranks: int, size_B: int, *, nodes: int | None, element_B: int = 4
    ) -> ScheduleChoice | None:
        """The library's own choice, as of `Decisions`; None too where the library is not known."""
        if self.decisions is None:
            return None
        return self.decisions.default(operation, ranks, size_B, self.version, nodes=nodes, element_B=element_B)

    def component(self, operation: str, ranks: int, nodes: int | None) -> str:
        """What serves an operation in place of the named algorithms; "" where they do, or nobody knows."""
        return self.decisions.component(operation, self.version, ranks, nodes) if self.decisions and nodes else ""


@cache
def decisions_for(mpi: str) -> LibraryDecisions:
    """Decisions and version of the library in a table's `mpi` column ("Open MPI 4.1.5", "MPICH 4.0.2", "")."""
    version = version_in(mpi)
    text = mpi.strip().lower()
    if not text:
        return LibraryDecisions(None, version, "the table does not say which MPI library was measured")
    for _, decisions in libraries:
        if decisions.banner.match(text):
            return LibraryDecisions(decisions, version, decisions.limits)
    return LibraryDecisions(None, version, f"what {mpi.strip()} chooses by itself is not known here")
